/**
 * Follows the Dockerfile without a container engine: creates the image's files in a folder and prints their size.
 *
 *     node scripts/follow-dockerfile.ts <folder>
 *
 * Each stage is a folder. RUN runs in its working folder, so commands must not contain absolute paths. The pinned Node and the C libraries
 * of this machine, a Linux with Debian's folders, stand in for Node's image.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { type Instruction, parseDockerfile, reachesBuilder } from './dockerfile.ts'

const REPOSITORY = join(import.meta.dirname, '..')
/** The path of the program in Node's image. */
const NODE = '/usr/local/bin/node'

/** How the image is run. */
export interface Image {
  /** Holds its files. */
  root: string
  environment: Record<string, string>
  folder: string
  /** `uid:gid` */
  user: string
  command: string[]
  health: string[]
}

/** The image of one stage, while it is made. */
interface Stage extends Image {
  /** Whether it is based on Node's image, for which this machine stands in. */
  isNode: boolean
}

/** @param folder an empty folder, which receives one for each stage @param say receives each step before it runs */
export function followDockerfile(folder: string, say: (step: string) => void): Image {
  const stages = new Map<string, Stage>()
  const ignoreFile = readFileSync(join(REPOSITORY, '.dockerignore'), 'utf8')
  let stage: Stage | undefined
  for (const instruction of parseDockerfile(readFileSync(join(REPOSITORY, 'Dockerfile'), 'utf8'))) {
    say(describe(instruction))
    if (instruction.kind === 'from') {
      const name = instruction.stage ?? 'image'
      stage = newStage(join(folder, name), instruction.image)
      stages.set(name, stage)
    } else if (stage === undefined) {
      throw new Error('the Dockerfile begins with no FROM')
    } else if (instruction.kind === 'copy') {
      copy(instruction, stage, instruction.from === null ? null : stages.get(instruction.from), ignoreFile)
    } else {
      take(instruction, stage)
    }
  }
  if (stage === undefined) throw new Error('the Dockerfile is empty')
  return stage
}

const describe = (instruction: Instruction): string =>
  Object.values(instruction)
    .map((value) => (typeof value === 'object' ? JSON.stringify(value) : value))
    .join(' ')

function newStage(root: string, image: string): Stage {
  mkdirSync(root, { recursive: true })
  const isNode = image.startsWith(`node:${process.versions.node}-bookworm-slim@sha256:`)
  if (!isNode && image !== 'scratch') throw new Error(`nothing here stands in for ${image}`)
  return { root, isNode, environment: {}, folder: '/', user: '0:0', command: [], health: [] }
}

function take(instruction: Exclude<Instruction, { kind: 'from' | 'copy' }>, stage: Stage): void {
  switch (instruction.kind) {
    case 'run':
      run(instruction.command, stage)
      break
    case 'workdir':
      stage.folder = resolve(stage.folder, instruction.path)
      mkdirSync(join(stage.root, stage.folder), { recursive: true })
      break
    case 'env':
      Object.assign(stage.environment, instruction.values)
      break
    case 'user':
      stage.user = instruction.user
      break
    case 'command':
      stage.command = instruction.args
      break
    case 'health':
      stage.health = instruction.args
      break
    case 'other':
      break
  }
}

function run(command: string, { root, folder, isNode }: Stage): void {
  if (!isNode) throw new Error(`nothing can run in an empty image: ${command}`)
  if (/(?:^|\s)\//.test(command)) throw new Error(`names an absolute path, which would be this machine's: ${command}`)
  const environment = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}` }
  // Run this machine's npm, and everything that it starts, on the pinned Node.
  execFileSync('sh', ['-c', command], {
    cwd: join(root, folder),
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

function copy(
  { from, owner, sources, target }: Extract<Instruction, { kind: 'copy' }>,
  stage: Stage,
  source: Stage | null | undefined,
  ignoreFile: string,
): void {
  if (source === undefined) throw new Error(`COPY from a stage that does not exist: ${from}`)
  const place = join(stage.root, resolve(stage.folder, target))
  const intoFolder = target.endsWith('/') || sources.length > 1
  for (const pattern of sources) {
    for (const file of filesFor(pattern, source)) {
      const isFolder = statSync(file).isDirectory()
      // A folder's content is copied, and links are followed.
      const to = intoFolder && !isFolder ? join(place, basename(file)) : place
      mkdirSync(dirname(to), { recursive: true })
      const filter = (path: string) =>
        source !== null || path === file || reachesBuilder(relative(REPOSITORY, path), ignoreFile)
      if (source === null && !isFolder && !reachesBuilder(relative(REPOSITORY, file), ignoreFile)) {
        throw new Error(`.dockerignore keeps ${pattern} from the builder`)
      }
      cpSync(isFolder ? file : realpathSync(file), to, { recursive: true, preserveTimestamps: true, filter })
      if (owner !== null && process.getuid?.() === 0) execFileSync('chown', ['-R', owner, to])
    }
  }
}

/** The files that a source of COPY matches. @throws Error when there are none */
function filesFor(pattern: string, source: Stage | null): string[] {
  const isOfNode = source?.isNode === true
  if (isOfNode && pattern === NODE) return [realpathSync(process.execPath)]
  const made = join(source?.root ?? REPOSITORY, pattern)
  const found = globSync(made)
  // Files of Node's image itself come from this machine.
  const ofMachine = isOfNode && found.length === 0 ? globSync(pattern) : []
  const files = [...found, ...ofMachine]
  if (files.length === 0) throw new Error(`COPY finds nothing at ${pattern}`)
  return files
}

/** Total size of a folder's files, bytes. */
export function sizeOf(folder: string): number {
  return globSync('**', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}

if (import.meta.main) {
  const [asked] = process.argv.slice(2)
  if (asked === undefined) throw new Error('Give an empty folder.')
  const { root } = followDockerfile(resolve(asked), (step) => console.log(step))
  const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
  const [all, app] = [sizeOf(root), sizeOf(join(root, 'app'))]
  console.log(`${mb(all)}: Tagwarden ${mb(app)}, Node and its libraries ${mb(all - app)}`)
}
