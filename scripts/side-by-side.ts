import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const ROOT = join(import.meta.dirname, '..')

/**
 * Runs scripts of Node, as many at once as there are cores, from the top of the repository. What each prints comes in one piece when it ends, and
 * the names of those that failed come last.
 *
 * @param checks each a script and its arguments
 * @returns whether all succeeded
 */
export async function runChecks(
  checks: readonly (readonly string[])[],
  print: (text: string) => unknown = (text) => process.stdout.write(text),
): Promise<boolean> {
  const failed: string[] = []
  const waiting = [...checks]
  const work = async (): Promise<void> => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const { output, ending } = await runCheck(check)
      print(output)
      if (ending !== 'exit code 0') failed.push(`FAILED: ${check.join(' ')} (${ending})\n`)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  print(failed.join(''))
  return failed.length === 0
}

/** What it prints, errors last. */
async function runCheck(check: readonly string[]): Promise<{ output: string; ending: string }> {
  const child = spawn(process.execPath, check, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  const ending = new Promise<string>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
  const [out, err, ended] = await Promise.all([text(child.stdout), text(child.stderr), ending])
  return { output: out + err, ending: ended }
}
