import type { CommandLineRequest, CommandParser, CommandRule, Decision, SimpleCommand } from '../contract/policy.ts'

/** Evaluates every rule for every simple command. Refuses a line that cannot be parsed, or whose rule fails. */
export function decideCommandLine(rules: readonly CommandRule[], request: CommandLineRequest): Decision {
  // Most rules have the same parser, so each parser parses the line once.
  const parsed = new Map<CommandParser, readonly SimpleCommand[]>()
  for (const rule of rules) {
    const refused = ask(rule, request, parsed)
    if (refused !== undefined) return refused
  }
  return { effect: 'allow' }
}

function ask(
  rule: CommandRule,
  { line, shell }: CommandLineRequest,
  parsed: Map<CommandParser, readonly SimpleCommand[]>,
): Decision | undefined {
  let commands: readonly SimpleCommand[]
  try {
    commands = parsed.get(rule.parser) ?? rule.parser(line, { shell })
    parsed.set(rule.parser, commands)
  } catch (error) {
    const detail = error instanceof Error && error.message !== '' ? `: ${error.message}` : ''
    return refuse(rule, `the command cannot be read${detail}`, 'write it in a simpler way')
  }
  for (const command of commands) {
    let verdict: ReturnType<CommandRule['test']>
    try {
      verdict = rule.test(command)
    } catch {
      // the error is dropped, because the refusal already names the rule that failed
      return refuse(rule, 'the command could not be judged: the rule failed', 'tell the author of the rule')
    }
    if (verdict === true) continue
    const detail = typeof verdict === 'object' && verdict !== null ? verdict : undefined
    const reason = detail?.reason ?? rule.reason ?? `\`${command.program ?? command.text}\` is not allowed`
    return refuse(rule, reason, detail?.remedy ?? rule.remedy ?? 'go on without it')
  }
  return undefined
}

function refuse({ name }: CommandRule, reason: string, remedy: string): Decision {
  return { effect: 'deny', code: 'EACCES', rule: name, reason, remedy }
}
