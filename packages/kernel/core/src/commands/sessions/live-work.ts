import type { CommandDoor } from '../admission.ts'
import type { Command } from '../../contract/workspace.ts'
import { start } from './background.ts'
import { Ids } from './ids.ts'
import { openSession } from './open.ts'
import type {
  BackgroundCommand,
  BackgroundOptions,
  LongRunning,
  OpenSessionOptions,
  Session,
} from '../../contract/sessions.ts'

export class LiveWork implements LongRunning {
  readonly #door: () => CommandDoor
  readonly #sessions = new Ids<Session>('session')
  readonly #commands = new Ids<BackgroundCommand>('command')

  /** @param door called at each use, because the workspace chooses its executor later */
  constructor(door: () => CommandDoor) {
    this.#door = door
  }

  openSession(options?: OpenSessionOptions): Promise<Session> {
    return openSession(this.#door(), this.#sessions, options)
  }

  sessions(): readonly Session[] {
    return this.#sessions.list()
  }

  session(id: string): Session {
    return this.#sessions.get(id)
  }

  start(command: Command, options?: BackgroundOptions): Promise<BackgroundCommand> {
    return start(this.#door(), this.#commands, command, options)
  }

  commands(): readonly BackgroundCommand[] {
    return this.#commands.list()
  }

  command(id: string): BackgroundCommand {
    return this.#commands.get(id)
  }

  /** Kills sessions with SIGKILL. For a gentle end, close the sessions first. The workspace itself ends commands. */
  async close(): Promise<void> {
    for (const session of this.sessions()) session.kill('SIGKILL')
    await Promise.all(this.sessions().map((session) => session.close()))
  }
}
