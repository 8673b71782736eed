/** Lints tag/template.tpl, or the file given, and runs its own tests. Fails with the lines of what is wrong. */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { type Finding, lintTemplate, parseTemplate, runTemplateTests, TemplateError } from '../tag/sandbox/index.ts'

const file = process.argv[2] ?? relative(process.cwd(), `${import.meta.dirname}/../tag/template.tpl`)

for (const { line, rule, message } of findingsIn(readFileSync(file))) {
  console.error(`${file}:${line} ${rule}: ${message}`)
  process.exitCode = 1
}

function findingsIn(bytes: Buffer): Finding[] {
  const text = decoded(bytes)
  if (text === null) return [{ line: 1, rule: 'characters', message: 'The file is not UTF-8.' }]
  try {
    const template = parseTemplate(text)
    // A scenario that does not pass the lint may fail for that very reason.
    const findings = lintTemplate(template)
    return findings.length > 0 ? findings : failedTests(template)
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    return [...error.findings]
  }
}

function failedTests(template: ReturnType<typeof parseTemplate>): Finding[] {
  return runTemplateTests(template).flatMap(({ name, line, error }) =>
    error === null ? [] : [{ line, rule: 'tests', message: `${name}: ${error}` }],
  )
}

function decoded(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
