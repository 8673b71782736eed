import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { REPOSITORY } from '../../testkit/repository.ts'

/** Source texts by path, relative to the project's top. */
export type Sources = Readonly<Record<string, string>>

export interface Finding {
  rule: string
  line: number
  message: string
}

/** What a check found, by path. A clean file has no entry. */
export type Findings = ReadonlyMap<string, readonly Finding[]>

/** Lints the sources with this repository's own biome.json, as if they lay here. */
export async function lint(sources: Sources): Promise<Findings> {
  return inTrialProject(sources, async (directory) => {
    const output = await run('@biomejs/biome/bin/biome', directory, [
      'lint',
      '--reporter=json',
      '--max-diagnostics=none',
      '--error-on-warnings',
    ])
    const report = JSON.parse(output) as { diagnostics: BiomeDiagnostic[] }
    return byPath(
      report.diagnostics.map(({ category, message, location }) => ({
        path: location.path,
        finding: { rule: category.split('/').at(-1) ?? category, line: location.start.line, message },
      })),
    )
  })
}

/** Type checks the sources with this repository's own tsconfig.json. A rule is the compiler's error code. */
export async function typeCheck(sources: Sources): Promise<Findings> {
  return inTrialProject(sources, async (directory) => {
    await symlink(join(REPOSITORY, 'node_modules'), join(directory, 'node_modules'))
    const output = await run('typescript/bin/tsc', directory, ['--pretty', 'false'])
    return byPath(
      [...output.matchAll(/^(.+?)\((\d+),\d+\): error (TS\d+): (.*)$/gm)].map(
        ([, path = '', line, rule = '', message = '']) => ({ path, finding: { rule, line: Number(line), message } }),
      ),
    )
  })
}

interface BiomeDiagnostic {
  category: string
  message: string
  location: { path: string; start: { line: number } }
}

async function inTrialProject(sources: Sources, check: (directory: string) => Promise<Findings>): Promise<Findings> {
  const directory = await mkdtemp(join(tmpdir(), 'tagwarden-house-'))
  try {
    for (const name of ['biome.json', 'tsconfig.json', 'package.json', '.gitignore']) {
      await copyFile(join(REPOSITORY, name), join(directory, name))
    }
    for (const [path, source] of Object.entries(sources)) {
      await mkdir(join(directory, dirname(path)), { recursive: true })
      await writeFile(join(directory, path), source)
    }
    return await check(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

/** Bytes. With as many rules as there are here Biome says more than the 1 MiB that Node keeps by itself. */
const MOST_OUTPUT = 64 * 1_024 * 1_024

/** What the tool prints on its standard output; findings make it exit with an error, which is not one here. */
function run(bin: string, cwd: string, parameters: readonly string[]): Promise<string> {
  const script = join(REPOSITORY, 'node_modules', bin)
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [script, ...parameters], { cwd, maxBuffer: MOST_OUTPUT }, (error, stdout, stderr) => {
      if (error !== null && stdout === '') reject(new Error(`${bin} did not run: ${stderr}`))
      else resolve(stdout)
    })
  })
}

function byPath(found: readonly { path: string; finding: Finding }[]): Findings {
  const findings = new Map<string, Finding[]>()
  for (const { path, finding } of found) findings.set(path, [...(findings.get(path) ?? []), finding])
  return findings
}
