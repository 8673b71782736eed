import { matchesGlob } from 'node:path'

/** One instruction of those that our Dockerfile uses. */
export type Instruction =
  | { kind: 'from'; image: string; stage: string | null }
  | { kind: 'copy'; from: string | null; owner: string | null; sources: string[]; target: string }
  | { kind: 'run'; command: string }
  | { kind: 'workdir'; path: string }
  | { kind: 'env'; values: Record<string, string> }
  | { kind: 'user'; user: string }
  | { kind: 'command'; args: string[] }
  | { kind: 'health'; args: string[] }
  | { kind: 'other'; name: string; text: string }

/** Instructions about running the image, which add nothing to its files. */
const WITHOUT_STEPS = ['VOLUME', 'EXPOSE', 'STOPSIGNAL']

/**
 * Reads a Dockerfile.
 *
 * @throws Error naming an unsupported line, because following only part of the file would prove nothing
 */
export function parseDockerfile(text: string): Instruction[] {
  return text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(instructionOf)
}

function instructionOf(line: string): Instruction {
  const [, name = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? []
  const { options, words } = splitOptions(rest)
  switch (name) {
    case 'FROM': {
      const [image = '', as, stage] = words
      if (words.length === 1) return { kind: 'from', image, stage: null }
      if (words.length === 3 && as === 'AS' && stage !== undefined) return { kind: 'from', image, stage }
      break
    }
    case 'COPY': {
      const unknown = Object.keys(options).filter((option) => option !== 'from' && option !== 'chown')
      const [target, ...sources] = words.toReversed()
      if (unknown.length > 0 || target === undefined || sources.length === 0) break
      const { from = null, chown: owner = null } = options
      return { kind: 'copy', from, owner, sources: sources.toReversed(), target }
    }
    case 'RUN':
      return { kind: 'run', command: rest }
    case 'WORKDIR':
      return { kind: 'workdir', path: rest }
    case 'ENV':
      return { kind: 'env', values: Object.fromEntries(words.map((word) => word.split(/=(.*)/s).slice(0, 2))) }
    case 'USER':
      return { kind: 'user', user: rest }
    case 'CMD':
      return { kind: 'command', args: JSON.parse(rest) as string[] }
    case 'HEALTHCHECK':
      return { kind: 'health', args: JSON.parse(rest.slice(rest.indexOf('CMD ') + 4)) as string[] }
    default:
      if (WITHOUT_STEPS.includes(name)) return { kind: 'other', name, text: rest }
  }
  throw new Error(`the Dockerfile has a line that cannot be followed: ${line}`)
}

function splitOptions(rest: string): { options: Record<string, string>; words: string[] } {
  const all = rest.split(/\s+/)
  const first = all.findIndex((word) => !word.startsWith('--'))
  const options = all.slice(0, first).map((word) => word.slice(2).split(/=(.*)/s).slice(0, 2))
  return { options: Object.fromEntries(options), words: all.slice(first) }
}

/** Whether a file of the repository reaches the builder: the last line of `.dockerignore` that matches it or a parent decides. */
export function reachesBuilder(path: string, ignoreFile: string): boolean {
  const parts = path.split('/')
  const withAbove = parts.map((_, n) => parts.slice(0, n + 1).join('/'))
  let isIgnored = false
  for (const line of ignoreFile.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const isException = line.startsWith('!')
    const pattern = isException ? line.slice(1) : line
    // Unlike in a shell, this star also matches names that begin with a dot.
    const isMeant = (one: string) => pattern === '*' || matchesGlob(one, pattern)
    if (withAbove.some(isMeant)) isIgnored = !isException
  }
  return !isIgnored
}
