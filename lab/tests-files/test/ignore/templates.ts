import type { Tree } from './trees.ts'

/** Lines of ignore files as projects have them, separated by blanks. */
const templates = [
  'node_modules/ dist/ .env .env.* !.env.example npm-debug.log* .npm *.tsbuildinfo coverage/',
  '__pycache__/ *.py[cod] *$py.class *.so .Python build/ dist/ *.egg-info/ .venv/ .pytest_cache/ /site',
  'target/ **/*.rs.bk Cargo.lock !crates/*/Cargo.lock *.pdb',
  '*.exe *.dll *.test *.out go.work go.work.sum /vendor/ !/vendor/modules.txt',
  '*.class *.jar !gradle/wrapper/gradle-wrapper.jar *.war hs_err_pid* .gradle /build/ out/',
  '[Dd]ebug/ [Rr]elease/ x64/ [Bb]in/ [Oo]bj/ *.user *.suo *.sln.docstates !**/[Pp]ackages/build/ **/[Pp]ackages/*',
  '*.o *.ko *.a *.la *.so.* !libkeep.a *.dSYM/ CMakeFiles/ CMakeCache.txt cmake-build-*/',
  '*.gem *.rbc /.config /coverage/ /spec/reports/ /tmp/* !/tmp/.keep .bundle/ vendor/bundle',
  'vendor/ composer.phar .phpunit.result.cache /storage/*.key /public/hot /public/storage !public/index.php',
  'DerivedData/ xcuserdata/ *.xcscmblueprint *.ipa Pods/ !default.pbxuser *.xcworkspace/*',
  '.dart_tool/ .packages build/ **/ios/Pods/ **/android/.gradle/ *.iml .flutter-plugins*',
  '_build/ deps/ *.ez erl_crash.dump /priv/static/* !/priv/static/favicon.ico',
  'dist-newstyle/ *.hi *.chi cabal.project.local* .stack-work/ .hsenv',
  '*.aux *.bbl *.log !important.log *.toc *.synctex.gz *.synctex(busy) figures/**/*-eps-converted-to.pdf',
  '.terraform/ *.tfstate *.tfstate.* crash.*.log *.tfvars !example.tfvars override.tf *_override.tf',
  'Thumbs.db *.stackdump [Dd]esktop.ini $RECYCLE.BIN/ *.lnk',
  '.DS_Store .AppleDouble ._* .Spotlight-V100 .Trashes',
  '*~ .fuse_hidden* .directory .Trash-* .nfs*',
  '.idea/* !.idea/codeStyles/ !.idea/runConfigurations .idea/**/workspace.xml *.iws',
  '.vscode/* !.vscode/settings.json !.vscode/tasks.json *.code-workspace .history/',
  '[._]*.s[a-v][a-z] [._]*.sw[a-p] Session.vim tags !tags/',
  '/.next/ /out/ *.pem next-env.d.ts .vercel /.pnp .pnp.* .yarn/* !.yarn/patches !.yarn/releases',
  '.nuxt .output .nitro .cache **/.data logs *.log',
  '.svelte-kit /build /package vite.config.*.timestamp-* !vite.config.js',
  '/dist /tmp /out-tsc /bazel-out /.angular/cache !/dist/keep speed-measure-plugin*.json',
  'public .cache/ static/**/*.map !static/vendor/**/*.map',
  'local_settings.py db.sqlite3 db.sqlite3-journal media /static_root/ *.pot',
  '/data/ !/data/README.md /models/**/checkpoints/ *.ckpt wandb/ mlruns/',
  '.ipynb_checkpoints */.ipynb_checkpoints/* profile_default/ ipython_config.py',
  '.Rproj.user .Rhistory .RData *-Ex.R /*.tar.gz /*.Rcheck/ vignettes/*.html',
  '*.asv *.mex* slprj/ octave-workspace *.slxc',
  '[Ll]ibrary/ [Tt]emp/ /[Aa]ssets/AddressableAssetsData/*/*.bin* !/[Aa]ssets/**/*.meta *.apk',
  'Binaries/* Saved/* Intermediate/* Content/**/*_BuiltData.uasset DerivedDataCache/*',
  '.godot/ .mono/ export_presets.cfg /android/ !/android/README',
  'zig-cache/ zig-out/ .zig-cache/ /release/ docgen_tmp/',
  '*.ml.d .merlin *.install _opam/ setup.data !bin/*.install',
  'elm-stuff/ repl-temp-* index.html !/index.html',
  '*.beam /log/* !/log/.gitkeep rebar3.crashdump _checkouts',
  '/* !/src/ !/package.json !/docs docs/* !docs/*.md',
  'foo/**/bar a/**  **/c !**/c/keep  \\#notes \\!top  d?  e\\*',
]

/** A path that a line may be about. */
const sampleOf = (line: string): string =>
  line
    .replace(/^!/u, '')
    .replace(/^\//u, '')
    .replaceAll('**/', 'p/q/')
    .replace(/\*\*$/u, 'r/s')
    .replaceAll(/\[!?([^\]]).*?\]/gu, '$1')
    .replaceAll('\\', '')
    .replaceAll(/[*?]/gu, 'x')

/** For each template a tree with the paths that its lines are about, at the root and below, as files and as directories. */
export function treesOfTemplates(): Tree[] {
  return templates.map((template) => {
    const lines = template.split(/ +/u)
    const tree = new Map([['.gitignore', `# made of ${lines.length} lines\n${lines.join('\n')}\n`]])
    const put = (file: string): void => {
      const clashes = [...tree.keys()].some(
        (known) => `${known}/`.startsWith(`${file}/`) || `${file}/`.startsWith(`${known}/`),
      )
      if (!clashes) tree.set(file, '')
    }
    for (const [index, line] of lines.entries()) {
      const sample = sampleOf(line)
      if (sample.endsWith('/')) for (const name of ['in.txt', '.keep', 'p/build/keep']) put(`${sample}${name}`)
      else put(index % 2 === 0 ? sample : `${sample}/in.txt`)
      put(`sub/dir/${sample.replace(/\/$/u, '')}`)
      put(`up/${sample.toUpperCase()}/x`.replaceAll('//', '/'))
      put(`near/x${sample.replaceAll('/', '')}`)
    }
    for (const name of ['README.md', 'src/main.c', 'src/keep', 'docs/a.md', 'docs/a.txt', '.hidden']) put(name)
    return Object.fromEntries(tree)
  })
}
