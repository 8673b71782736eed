/**
 * Lints tag/template.tpl, or the given file, and runs its own tests. Fails with the faulty lines. Rules that only the gallery or this
 * project has are warnings, unless the template is ours or `--strict` comes before the file.
 */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import {
  type Finding,
  isWarning,
  lintTemplate,
  parseTemplate,
  runTemplateTests,
  TemplateError,
} from '../tag/sandbox/index.ts'

const [given] = process.argv.slice(2).filter((argument) => argument !== '--strict')
const file = given ?? relative(process.cwd(), `${import.meta.dirname}/../tag/template.tpl`)
const isStrict = given === undefined || process.argv.includes('--strict')

for (const finding of findingsIn(readFileSync(file))) {
  const { line, rule, message } = finding
  const isMild = isWarning(finding) && !isStrict
  console.error(`${file}:${line} ${isMild ? 'warning ' : ''}${rule}: ${message}`)
  if (!isMild) process.exitCode = 1
}

function findingsIn(bytes: Buffer): Finding[] {
  const text = decoded(bytes)
  if (text === null) return [{ line: 1, rule: 'characters', message: 'The file is not UTF-8.' }]
  try {
    const template = parseTemplate(text)
    const findings = lintTemplate(template)
    // Run the scenarios only on a lint-free template: a fault may make them fail.
    return findings.every(isWarning) ? [...findings, ...failedTests(template)] : findings
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    return [...error.findings]
  }
}

function failedTests(template: ReturnType<typeof parseTemplate>): Finding[] {
  return runTemplateTests(template).flatMap(({ name, line, error, isUnplayed }) =>
    error === null ? [] : [{ line, rule: isUnplayed ? 'runner' : 'tests', message: `${name}: ${error}` }],
  )
}

function decoded(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
