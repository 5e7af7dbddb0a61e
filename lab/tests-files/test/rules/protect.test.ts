import { readFile } from 'node:fs/promises'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules } from '@ws/core'
import type { Workspace } from '@ws/core'
import { codeOf } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

const secrets = [
  ...['.env', '.env.local', '.env.production', '.envrc', '.env.example.local'],
  ...['id_rsa', 'id_dsa', 'id_ecdsa', 'id_ecdsa_sk', 'id_ed25519', 'id_ed25519_sk', 'me.ppk'],
  ...['privkey.pem', 'private.key', 'private.pem', 'private-key.pem', 'private_key.pem'],
  ...['.ssh/config', '.gnupg/secring.gpg', '.password-store/a.gpg'],
  ...['.aws/credentials', '.azure/accessTokens.json', '.oci/config', '.boto', '.s3cfg', '.kube/config', '.vault-token'],
  ...['.config/gcloud/x.db', '.config/doctl/config.yaml', '.config/hcloud/cli.toml', '.config/rclone/rclone.conf'],
  ...['application_default_credentials.json', '.terraform.d/credentials.tfrc.json'],
  ...['.npmrc', '.pypirc', '.docker/config.json', '.config/containers/auth.json'],
  ...['.cargo/credentials', '.cargo/credentials.toml', '.gem/credentials', '.composer/auth.json'],
  ...['.git-credentials', '.config/git/credentials', '.config/gh/hosts.yml', '.config/glab-cli/config.yml'],
  ...['.netrc', '_netrc', '.pgpass', '.my.cnf'],
]

const noSecrets = [
  ...['.env.example', '.env.sample', '.env.template', '.env.local.example', 'env', 'a.env'],
  ...['id_rsa.pub', 'id_ed25519.pub', 'cacert.pem', 'server.key', 'cert.p12', 'ssh/config', '.config/gcloudx'],
  ...[
    '.docker/x',
    '.cargo/config.toml',
    '.config/git/config',
    '.yarnrc.yml',
    '.gitconfig',
    '.gitignore',
    'credentials.json',
  ],
  ...['node_modules/x/.env', '.venv/lib/id_rsa', 'py/site-packages/certifi/.npmrc', '.git/objects/.ssh/x'],
]

const hooks = [
  ...['.git/hooks/pre-commit', '.git/config', '.git/config.worktree', 'bare.git/hooks/update', 'bare.git/config'],
  ...['.git/commondir', '.git/remotes/origin', '.git/branches/origin', 'bare.git/commondir', '.git'],
  ...['.git/modules/sub/commondir', '.git/modules/sub/config.worktree', '.git/modules/a/b/remotes/origin'],
  ...['.git/modules/sub/hooks/x', '.git/modules/sub/config', '.git/modules/a/b/modules/c/config'],
  ...['.git/worktrees/w/commondir', '.git/worktrees/w/gitdir', '.git/worktrees/w/config.worktree'],
  ...['.vscode/tasks.json', 'x.code-workspace', '.idea/workspace.xml', '.zed/tasks.json'],
  ...['.devcontainer/devcontainer.json', '.devcontainer.json', '.mcp.json', '.claude/settings.json'],
  ...['.claude/settings.local.json', '.claude/commands/a.md', '.claude/agents/a.md', '.claude/hooks/a.sh'],
  ...['.codex/config.toml', '.cursor/mcp.json', '.cursor/hooks.json'],
]

const atTheRoot = [
  ...['.gitconfig', '.config/git/config', '.profile', '.bash_profile', '.bash_login', '.bash_logout', '.bashrc'],
  ...['.zshenv', '.zprofile', '.zshrc', '.zlogin', '.zlogout', '.config/fish/config.fish'],
]

const noHooks = [
  ...[
    '.git/HEAD',
    '.git/index',
    '.git/refs/heads/config',
    '.git/objects/ab/cd',
    '.git/worktrees/w/HEAD',
    '.gitmodules',
  ],
  ...[
    '.git/modules/sub/HEAD',
    '.git/modules/sub/refs/remotes/origin/main',
    '.git/modules/a/b/logs/refs/remotes/origin/main',
    '.gitfile',
    '.husky/pre-commit',
    '.claude/notes.md',
    '.cursor/rules/a.md',
    'hooks/x',
    'config',
    '.vimrc',
  ],
  ...['node_modules/x/.vscode/settings.json', '.venv/.git/hooks/x', '.agents/skills/a.md', '.pre-commit-config.yaml'],
]

describe.each(['/', '/workspace'])('sets of names that people expect, at %s', (at) => {
  async function under(rule: ReturnType<typeof rules.protectSecrets>): Promise<Workspace> {
    return await createWorkspace({ mounts: [{ at, adapter: createMemoryAdapter() }], rules: [rule] })
  }

  it.each(['', 'deep/er/'])('[RU10] protectSecrets denies each name it lists, in `%s`', async (directory) => {
    await using workspace = await under(rules.protectSecrets())
    for (const name of secrets) {
      for (const path of [directory + name, (directory + name).toUpperCase()]) {
        expect(await codeOf(workspace.read(path)), path).toBe('EACCES')
        expect(await codeOf(workspace.write(path, 'x')), path).toBe('EACCES')
      }
    }
    for (const name of noSecrets) expect(await codeOf(workspace.write(directory + name, 'x')), name).toBe('done')
  })

  it.each(['', 'deep/er/'])('[RU10] protectHooks makes each name it lists read-only, in `%s`', async (directory) => {
    await using workspace = await under(rules.protectHooks())
    for (const name of [...hooks, ...(directory === '' ? atTheRoot : [])]) {
      for (const path of [directory + name, (directory + name).toUpperCase()]) {
        expect(await codeOf(workspace.write(path, 'x')), path).toBe('EACCES')
        expect(await codeOf(workspace.read(path)), path).toBe('ENOENT')
      }
    }
    for (const name of [...noHooks, ...(directory === '' ? [] : atTheRoot)]) {
      expect(await codeOf(workspace.write(directory + name, 'x')), name).toBe('done')
    }
  })

  it('[RU10] neither can be gone round by moving, copying or linking', async () => {
    const files = { '/r/.git/hooks/pre-commit': 'h', '/r/a': 'a', '/r/.env': 's', '/planted/hooks/pre-commit': 'evil' }
    const adapter = createMemoryAdapter({ files })
    await using workspace = await createWorkspace({
      mounts: [{ at, adapter }],
      rules: [rules.protectSecrets(), rules.protectHooks()],
    })
    for (const [from, to] of [
      ['r/.git', 'r/git'],
      ['r', 'q'],
      ['r/.git/hooks', 'h'],
      ['r/.env', 'env'],
      ['planted', 'new/.git'],
      ['planted/hooks', 'r/.git/hooks'],
    ] as const) {
      expect(await codeOf(workspace.move(from, to, { overwrite: true })), from).toBe('EACCES')
      if (from !== 'r/.git/hooks' && from !== 'r/.git')
        expect(await codeOf(workspace.copy(from, to)), from).toBe('EACCES')
    }
    await workspace.createSymlink('link', 'r/.git')
    expect(await codeOf(workspace.write('link/hooks/pre-commit', 'evil'))).toBe('EACCES')
    await workspace.createSymlink('secret', 'r/.env')
    expect(await codeOf(workspace.read('secret'))).toBe('EACCES')
  })

  it('[RU10] the refusal says why, and how to go on', async () => {
    await using workspace = await under(rules.protectHooks())
    await expect(workspace.write('x/.git/config', '')).rejects.toThrow(
      /`[^`]*x\/\.git\/config` decides what other programs run later, and is read-only \(rule `protectHooks`\); ask the user/,
    )
  })
})

describe('the page on protected names', () => {
  it('[RU10] has every pattern of both sets, and says what is left alone', async () => {
    const page = await readFile(new URL('../../../../docs/protected-names.md', import.meta.url), 'utf8')
    for (const { patterns, except = [], skip = [] } of [rules.protectSecrets(), rules.protectHooks()]) {
      for (const name of [...patterns, ...except, ...skip]) expect(page).toContain(`\`${name}\``)
    }
  })
})
