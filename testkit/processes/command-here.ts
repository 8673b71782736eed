import type { TestContext } from 'node:test'
import { CommanderError } from 'commander'
import { commandLine, run } from '../../src/cli/program.ts'
import { tempDir } from '../engines.ts'
import type { Finished } from './command-line.ts'

/** Variables that are kept, as for a process of the program. */
const KEPT = ['PATH', 'NODE_COMPILE_CACHE']

/**
 * Like `runCli`, but in this process, because starting one costs more than most commands. Only one at a time, and none that listens,
 * handles signals or ends the process.
 */
export async function runCliHere(
  t: TestContext,
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<Finished> {
  const program = commandLine()
  for (const command of [program, ...program.commands]) command.exitOverride()
  const [folder, cwd, { exitCode }] = [await tempDir(t), process.cwd(), process]
  const settings = { ...process.env }
  const kept = KEPT.map((name) => [name, settings[name]]).filter(([, value]) => value !== undefined)
  const [out, err] = [capture(process.stdout), capture(process.stderr)]
  replaceEnvironment({ ...Object.fromEntries(kept), ...environment })
  process.chdir(folder)
  process.exitCode = undefined
  try {
    const code = await codeOf(run(program, args))
    return { code, out: out.lines(), err: err.lines() }
  } finally {
    process.exitCode = exitCode
    process.chdir(cwd)
    replaceEnvironment(settings)
    for (const stream of [out, err]) stream.release()
  }
}

async function codeOf(running: Promise<void>): Promise<number> {
  try {
    await running
    return Number(process.exitCode ?? 0)
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown
    return thrown.exitCode
  }
}

/** Changes `process.env` in place, because loaded modules hold a reference to it. */
function replaceEnvironment(settings: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in settings)) delete process.env[name]
  Object.assign(process.env, settings)
}

/** Captures text written by commands. The test runner's own reports are bytes and pass through. */
function capture(stream: NodeJS.WriteStream) {
  const write = stream.write
  let text = ''
  const capturing = function (this: NodeJS.WriteStream, ...args: Parameters<typeof write>): boolean {
    const [chunk] = args
    if (typeof chunk !== 'string') return write.apply(this, args)
    text += chunk
    return true
  }
  Object.assign(stream, { write: capturing })
  return {
    lines: () => (text === '' ? [] : text.replace(/\n$/, '').split('\n')),
    release: () => Object.assign(stream, { write }),
  }
}
