import { readOptions, ruleOptions } from './rule-options.ts'
import type { PatternRule } from '../contract/policy.ts'

// Each name is documented with its reason in docs/protected-names.md, which a test holds against these lists.

/** Large directories whose content is not the user's. */
const skipped = ['node_modules', '.venv', 'site-packages', '.git/objects'] as const

const secrets = [
  // Environment files.
  '.env*',
  // Private keys, by the names that programs give them. `*.pem` is not here: CA bundles have that name too.
  'id_{rsa,dsa,ecdsa,ecdsa_sk,ed25519,ed25519_sk}',
  '*.ppk',
  'privkey.pem',
  'private{.key,.pem,-key.pem,_key.pem}',
  '.ssh',
  '.gnupg',
  '.password-store',
  // Clouds.
  '.aws',
  '.azure',
  '.oci',
  '.config/{gcloud,doctl,hcloud,rclone}',
  'application_default_credentials.json',
  '.{boto,s3cfg}',
  '.kube',
  '.vault-token',
  '.terraform.d/credentials.tfrc.json',
  // Registries and forges.
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
  // Machines and databases.
  '{.,_}netrc',
  '.pgpass',
  '.my.cnf',
] as const

const secretsLeftAlone = ['.env*.{example,sample,template}'] as const

const hooks = [
  // A repository, also a bare one. The configuration can name a directory of hooks. `commondir` says where both are.
  // `remotes` and `branches` name the repository of a push, whose hooks run.
  '*.git/{hooks,config,config.worktree,commondir,remotes,branches}',
  // The git directories of submodules, nested ones too, and of worktrees.
  '*.git/modules/**/{hooks,config,config.worktree,commondir,remotes,branches}',
  '*.git/worktrees/*/{commondir,gitdir,config.worktree}',
  './.gitconfig',
  './.config/git',
  // Editors run tasks, and interpreters that settings name, when a directory is opened.
  '.vscode',
  '*.code-workspace',
  '.idea',
  '.zed',
  '.devcontainer{,.json}',
  // Agents start what these name.
  '.mcp.json',
  '.claude/{settings.json,settings.local.json,commands,agents,hooks}',
  '.codex/config.toml',
  '.cursor/{mcp.json,hooks.json}',
  // Shells run them; HOME is the workspace's root.
  './.{profile,bash_profile,bash_login,bash_logout,bashrc}',
  './.{zshenv,zprofile,zshrc,zlogin,zlogout}',
  './.config/fish',
] as const

/** A file that names the git directory; a directory of this name stays writable. */
const hookFiles = ['.git'] as const

/** Branches of remotes: also named `remotes` in a submodule's git directory. */
const hooksLeftAlone = ['*.git/modules/*/**/refs/remotes'] as const

export interface ProtectOptions {
  /** Default: the name of the function. */
  readonly name?: string | undefined
}

/**
 * Denies files that usually hold credentials: `.env*` (not `.env.example` and its like), private keys by name, `.ssh`, `.aws`, `.npmrc` …
 * Skips `node_modules`, `.venv`, `site-packages` and `.git/objects`. Every name and its reason: docs/protected-names.md.
 * It goes by names: a secret that was committed stays readable through git.
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
 * Every name and its reason: docs/protected-names.md.
 *
 * In commands it covers files that exist at the start, and reserves missing names in a repository. The result reports new ones.
 * `git init`, commits and installs work; `git remote add` and `git config` in an existing repository do not. `.husky` stays writable.
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
