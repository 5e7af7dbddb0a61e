import { readOptions, ruleOptions } from './rule-options.ts'
import type { PatternRule } from '../contract/policy.ts'

// docs/protected-names.md gives the reason for each name. A test compares that file with these lists.

/** Large directories whose content is not written by the user. */
const skipped = ['node_modules', '.venv', 'site-packages', '.git/objects'] as const

const secrets = [
  // Environment files.
  '.env*',
  // Private keys, by the names that programs give them. `*.pem` is missing, because CA bundles also have that name.
  'id_{rsa,dsa,ecdsa,ecdsa_sk,ed25519,ed25519_sk}',
  '*.ppk',
  'privkey.pem',
  'private{.key,.pem,-key.pem,_key.pem}',
  '.ssh',
  '.gnupg',
  '.password-store',
  // Cloud credentials.
  '.aws',
  '.azure',
  '.oci',
  '.config/{gcloud,doctl,hcloud,rclone}',
  'application_default_credentials.json',
  '.{boto,s3cfg}',
  '.kube',
  '.vault-token',
  '.terraform.d/credentials.tfrc.json',
  // Credentials of package registries and code hosts.
  '.npmrc',
  '.pypirc',
  '.docker/config.json',
  '.config/containers/auth.json',
  '.cargo/credentials{,.toml}',
  '.gem/credentials',
  '.composer/auth.json',
  '.git-credentials',
  '.config/git/credentials',
  '.config/{gh,glab-cli}',
  // Credentials of machines and databases.
  '{.,_}netrc',
  '.pgpass',
  '.my.cnf',
] as const

const secretsLeftAlone = ['.env*.{example,sample,template}'] as const

const hooks = [
  // A repository, also a bare repository. `config` can name a directory of hooks, and `commondir` can move both.
  // `remotes` and `branches` name the target repository of a push, whose hooks run.
  '*.git/{hooks,config,config.worktree,commondir,remotes,branches}', // @defence `,commondir` another name by which git: each name it lists
  // The git directories of submodules, also nested ones, and of worktrees.
  '*.git/modules/**/{hooks,config,config.worktree,commondir,remotes,branches}',
  '*.git/worktrees/*/{commondir,gitdir,config.worktree}',
  './.gitconfig',
  './.config/git',
  // When an editor opens a directory, these settings can make the editor run tasks and interpreters.
  '.vscode',
  '*.code-workspace',
  '.idea',
  '.zed',
  '.devcontainer{,.json}',
  // Agents start the programs that these files name.
  '.mcp.json',
  '.claude/{settings.json,settings.local.json,commands,agents,hooks}',
  '.codex/config.toml',
  '.cursor/{mcp.json,hooks.json}',
  // Start-up files of shells. HOME is the workspace's root.
  './.{profile,bash_profile,bash_login,bash_logout,bashrc}',
  './.{zshenv,zprofile,zshrc,zlogin,zlogout}',
  './.config/fish',
] as const

/** A file `.git` names the git directory. A directory `.git` remains writable. */
const hookFiles = ['.git'] as const

/** Branches of remotes, which are not protected. In a submodule's git directory, their directory is also called `remotes`. */
const hooksLeftAlone = ['*.git/modules/*/**/refs/remotes'] as const

export interface ProtectOptions {
  /** The name of the rule. Default: the name of the function. */
  readonly name?: string | undefined
}

/**
 * Denies files that usually contain credentials: `.env*` (but not `.env.example`), private keys by name, `.ssh`, `.aws`, `.npmrc` …
 * Skips `node_modules`, `.venv`, `site-packages` and `.git/objects`. For every name and its reason, see docs/protected-names.md.
 * Matches names only: a secret that was committed remains readable through git.
 */
export function protectSecrets(options?: ProtectOptions): PatternRule {
  const { name = 'protectSecrets' } = readOptions('protectSecrets', ruleOptions.named, options)
  return {
    kind: 'pattern',
    name,
    access: 'none',
    patterns: secrets,
    except: secretsLeftAlone,
    skip: skipped,
    reason: 'usually holds credentials, and is denied',
    remedy: 'go on without it, or ask the user for what you need of it',
  }
}

/**
 * Makes files read-only that other programs run later: git hooks and configuration, settings of editors and agents, start-up files.
 * For every name and its reason, see docs/protected-names.md.
 *
 * For commands, covers files that exist at the start, and reserves missing names in a repository. The result reports new files.
 * `git init`, commits and installs work; `git remote add` and `git config` in an existing repository fail. `.husky` remains writable.
 */
export function protectHooks(options?: ProtectOptions): PatternRule {
  const { name = 'protectHooks' } = readOptions('protectHooks', ruleOptions.named, options)
  return {
    kind: 'pattern',
    name,
    access: 'read-only',
    patterns: hooks,
    files: hookFiles,
    except: hooksLeftAlone,
    skip: skipped,
    reason: 'decides what other programs run later, and is read-only',
    remedy: 'ask the user to change it',
  }
}
