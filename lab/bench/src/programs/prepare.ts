import type { Runner } from './runners.ts'

export interface Sizes {
  /** Number of files in the tree for git, grep, find, tar and cp. */
  readonly files: number
  readonly modules: number
  readonly packages: number
  /** Number of repetitions in one sandbox for programs that take a few milliseconds. */
  readonly repeats: number
}

/** Prepares the files for the programs in the directory of `plain`. No file comes from a network. */
export async function prepare(plain: Runner, { files, modules, packages }: Sizes): Promise<void> {
  const commit = 'git add -A && git -c user.name=n -c user.email=e commit -qm first'
  const install = 'npm install --package-lock-only --offline --cache ../npm-cache --no-audit --no-fund'
  for (const command of [
    `python3 -c "$SCRIPT" ${files} ${modules} ${packages}`,
    `cd tree && git init -q && ${commit} > /dev/null`,
    `cd app && ${install} > /dev/null`,
  ]) {
    await plain.run(command, { SCRIPT: script })
  }
}

const script = `
import io, json, os, sys, tarfile, zipfile

files, modules, packages = map(int, sys.argv[1:])

def source(name, functions):
    one = 'def f{0}(x, y={0}):\\n    """${'Words. '.repeat(8)}"""\\n    return [x + y * i for i in range(y) if i % 3]\\n\\n'
    return '# ' + name + '\\n' + ''.join(one.format(i) for i in range(functions))

def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as file: file.write(text)

for i in range(files): write(f'tree/d{i // 50}/m{i}.py', source(f'file {i}', 8))
for i in range(modules): write(f'modules/d{i // 50}/m{i}.py', source(f'module {i}', 8))

info = 'greet-1.0.dist-info'
with zipfile.ZipFile('greet-1.0-py3-none-any.whl', 'w') as wheel:
    names = [f'greet/m{i}.py' for i in range(modules)]
    for name in names: wheel.writestr(name, source(name, 8))
    wheel.writestr(f'{info}/METADATA', 'Metadata-Version: 2.1\\nName: greet\\nVersion: 1.0\\n')
    wheel.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    names += [f'{info}/{name}' for name in ('METADATA', 'WHEEL', 'RECORD')]
    wheel.writestr(f'{info}/RECORD', ''.join(f'{name},,\\n' for name in names))

os.makedirs('packages')
for i in range(packages):
    with tarfile.open(f'packages/dep{i}.tgz', 'w:gz') as package:
        contents = {'package.json': json.dumps({'name': f'dep{i}', 'version': '1.0.0'})}
        contents.update({f'lib/m{j}.js': f'exports.value = {j}\\n' * 50 for j in range(9)})
        for name, text in contents.items():
            entry = tarfile.TarInfo(f'package/{name}')
            entry.size = len(text)
            package.addfile(entry, io.BytesIO(text.encode()))
dependencies = {f'dep{i}': f'file:../packages/dep{i}.tgz' for i in range(packages)}
write('app/package.json', json.dumps({'name': 'app', 'version': '1.0.0', 'dependencies': dependencies}))
`
