import { isWorkspaceError } from '@ws/core'

import { openEngine, switches } from './engine.ts'
import { setInterpreter } from './shims/worker_threads.ts'
import { fromLink, initial, isLink, toLink } from './state.ts'

/** Limits of display, to keep the page fast. */
const most = { entries: 300, characters: 20_000 }

const here =
  'In a browser it has no tar, gzip, gunzip, zcat and sqlite3 either. Each command starts in the directory /. It has ' +
  '10 seconds, 1 MiB of output, files of 4 MiB, and no limit of memory. The interpreter locks the globals of JavaScript ' +
  'on Node, and cannot do so here. Nothing of yours leaves this page.'

function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}

type Work = () => Promise<string | void>
const button = (name: string, work: (name: string) => unknown) =>
  make('button', { type: 'button', onclick: () => void work(name) }, name)
const field = { spellcheck: false, autocomplete: 'off' } as const
const labelled = (text: string, control: HTMLElement) => make('label', {}, text, control)
const part = (title: string, ...children: Node[]) =>
  make('section', { ariaLabel: title }, make('h2', {}, title), ...children)
const wordsOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Mounts the playground into an element. `base` is the directory of the scripts. @returns a function that unmounts the playground */
export async function mount(element: HTMLElement, base: string): Promise<() => void> {
  setInterpreter(new URL('interpreter.js', new URL(base, location.href)))
  let engine = await openEngine(initial.files, initial.rules)
  /** The open file, with its content at the last opening or saving. */
  let open: { readonly path: string; readonly content: string } | undefined
  let stop: (() => void) | undefined
  const past: string[] = []
  let place = 0
  let last = Promise.resolve()
  let shown = ''

  const notice = make('p', { role: 'alert', className: 'refused' })
  const tree = make('ul', { ariaLabel: 'All files' })
  const path = make('input', { ...field, value: '/README.md', oninput: () => void explain() })
  const text = make('textarea', { rows: 8, spellcheck: false })
  const answer = make('output')
  const log = make('div', { role: 'log', ariaLabel: 'Output', tabIndex: 0, className: 'log' })
  const prompt = make('input', { ...field, onkeydown: onKey })
  const stopButton = button('Stop', () => stop?.())
  const rows = make('tbody')
  const asked = make('code')
  const boxes = Object.entries(switches).map(([name, { code }]) => {
    const onchange = () => act('The rules hold, for the files and for the shell.', () => engine.use(chosen()))
    const box = make('input', { type: 'checkbox', name, onchange })
    return { name, box, label: make('label', {}, box, ' ', make('code', {}, code)) }
  })
  const chosen = () => boxes.flatMap(({ name, box }) => (box.checked ? [name] : []))

  function say(words: string, className = ''): void {
    Object.assign(answer, { value: words, className })
  }

  /** Queues work that the visitor has requested, reports the result, and updates the list of files. */
  function act(done: string, work: Work): void {
    const refuse = (error: unknown) => say(wordsOf(error), 'refused')
    const doIt = () => work().then((words) => say(words ?? done), refuse)
    last = last.then(doIt).then(show).catch(refuse)
  }

  /** @returns a warning if the text area changes the text */
  function fill(path: string, content: string): string | void {
    text.value = content
    open = { path, content: text.value }
    if (text.value !== content) return `${path} has carriage returns, which Save would leave out`
  }

  const openFile = async () => fill(path.value, await engine.workspace.readText(path.value))
  const ways: Readonly<Record<string, Work>> = {
    Open: openFile,
    async Save() {
      await engine.workspace.write(path.value, text.value)
      fill(path.value, text.value)
    },
    async Rename() {
      if (open === undefined) throw new Error('Open a file first, then write its new path.')
      await engine.workspace.move(open.path, path.value)
      open = { path: path.value, content: open.content }
    },
    Delete: () => engine.workspace.delete(path.value, { recursive: true }),
    'New directory': () => engine.workspace.createDirectory(path.value),
    async 'Link to this state'() {
      const { files, left } = await engine.save()
      const link = await toLink({ files, rules: chosen(), command: prompt.value || (past.at(-1) ?? '') })
      history.replaceState(history.state, '', link)
      const missing = left.length === 0 ? '' : ` Not in it, since only text and directories are: ${left.join(', ')}`
      return `The link is in the address bar.${missing}`
    },
  }

  async function show(): Promise<void> {
    const found: string[] = []
    for await (const { path, type } of engine.workspace.list('/', { recursive: true })) {
      found.push(type === 'directory' ? `${path}/` : path)
      if (found.length === most.entries) break
    }
    const choose = (name: string) => {
      path.value = name.replace(/\/$/u, '')
      return name.endsWith('/') ? explain() : act(`Open: ${path.value}`, openFile)
    }
    const items = found.toSorted().map((name) => make('li', {}, button(name, choose)))
    if (found.length === most.entries) items.push(make('li', {}, `The first ${most.entries} entries are shown.`))
    if (shown !== found.join('\n')) tree.replaceChildren(...items) // an unchanged list keeps the keyboard focus
    shown = found.join('\n')
    await explain()
    // the shell may have changed or deleted the open file; text that the visitor typed stays
    if (open === undefined || text.value !== open.content) return
    fill(open.path, await engine.workspace.readText(open.path).catch(() => text.value))
  }

  async function explain(): Promise<void> {
    const of = path.value
    const refused = (error: unknown) => new Map([[wordsOf(error), ['all']]])
    const answers = await engine.explain(of).catch(refused)
    if (of !== path.value) return
    asked.textContent = of
    const row = ([answer, operations]: [string, string[]]) => {
      const className = answer === 'allowed' ? '' : 'refused'
      return make('tr', { className }, make('th', { scope: 'row' }, operations.join(', ')), make('td', {}, answer))
    }
    rows.replaceChildren(...[...answers].map(row))
  }

  async function run(event: Event): Promise<void> {
    event.preventDefault()
    const command = prompt.value
    if (command.trim() === '' || stop !== undefined) return
    place = past.push(command)
    prompt.value = ''
    const entry = make('div', {}, make('code', {}, `$ ${command}`))
    log.append(entry)
    const add = (className: string, given: string) => {
      const isLong = given.length > most.characters
      const shown = isLong ? `${given.slice(0, most.characters)}\n(the page shows no more)` : given
      if (given !== '') entry.append(make('pre', { className }, shown))
      log.scrollTop = log.scrollHeight
    }
    stop = () => undefined
    try {
      const result = await engine.run(command, (end) => {
        stop = end
        stopButton.disabled = false
      })
      add('', result.stdout)
      add('refused', result.stderr)
      for (const { rule, reason, remedy, path } of result.hints ?? [])
        add('hint', `${rule}: ${path} ${reason}; ${remedy}`)
      const ended = result.timedOut ? 'ended after 10 seconds' : `ended by ${result.signal}`
      add('hint', result.exitCode === null ? ended : `exit code ${result.exitCode}`)
    } catch (error) {
      add('refused', wordsOf(error))
    }
    stop = undefined
    if (document.activeElement === stopButton) prompt.focus()
    stopButton.disabled = true
    last = last.then(show).catch(() => undefined) // the visitor has left the page, which ended the engine
  }

  function onKey(event: KeyboardEvent): void {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (event.ctrlKey && event.key === 'c' && prompt.selectionStart === prompt.selectionEnd) stop?.()
    if (step === undefined) return
    event.preventDefault()
    place = Math.min(Math.max(place + step, 0), past.length)
    prompt.value = past[place] ?? ''
  }

  /** Loads the state in the address, or the default for a missing or damaged state. */
  async function load(): Promise<void> {
    let state = initial
    let problem = ''
    const before = engine
    try {
      state = (await fromLink(location.hash)) ?? initial
      engine = await openEngine(state.files, state.rules)
    } catch (error) {
      problem = `${isWorkspaceError(error) ? 'The link is damaged' : wordsOf(error)}. The usual files are here.`
      state = initial
      engine = await openEngine(state.files, state.rules)
    }
    await before.workspace.close()
    notice.textContent = problem
    for (const { name, box } of boxes) box.checked = state.rules.includes(name)
    prompt.value = state.command
    text.value = ''
    open = undefined
    await show()
  }

  const onHash = () => void (isLink(location.hash) && load())
  const head = make('tr', {}, ...['operation', 'answer'].map((name) => make('th', { scope: 'col' }, name)))
  const actions = Object.entries(ways).map(([name, work]) => button(name, () => act(`${name}: ${path.value}`, work)))
  stopButton.disabled = true
  await load()
  element.replaceChildren(
    notice,
    part('Files', tree, labelled('Path', path), ...actions, answer, labelled('Content', text)),
    part(
      'Shell',
      log,
      make('form', { onsubmit: run }, labelled('Command', prompt), make('button', {}, 'Run'), stopButton),
    ),
    part('Rules', ...boxes.map(({ label }) => label)),
    part('Explain', make('table', {}, make('caption', {}, 'explain ', asked), make('thead', {}, head), rows)),
    part('Not here', make('p', {}, `${engine.workspace.executor?.lacks ?? ''} ${here}`)),
  )
  addEventListener('hashchange', onHash)
  // loads the interpreter early; a failure after the visitor has left does not matter
  engine.run('true').catch(() => undefined)
  return () => {
    removeEventListener('hashchange', onHash)
    void engine.workspace.close()
  }
}
