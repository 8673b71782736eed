import type { Finding, Section, TestSuite } from '../types.ts'
import { lintTestCode } from './code.ts'
import { UNUSED } from './names.ts'

/** A public runner's authors found that the editor refuses to save other names (R); published templates have them (O). */
const SAFE_NAME = /^[A-Za-z0-9 _-]+$/

/** What would be an error in the template's own code: a template is taken whatever its scenarios hold. */
const IN_SCENARIO = 'scenario'

/** ___TESTS___: names that the editor saves, and code that the sandbox takes. */
export function lintScenarios({ scenarios, setup }: TestSuite): Finding[] {
  return [
    ...(setup === null ? [] : alone(inTest(lintTestCode(setup)))),
    ...scenarios.flatMap(({ name, line, code }, index) => [
      ...nameProblems(
        name,
        scenarios.slice(0, index).map((other) => other.name),
      ).map((message) => ({
        line,
        rule: 'style',
        message,
      })),
      ...withSetup(setup, code),
    ]),
  ]
}

/** What setup declares is for the scenarios to use. */
const alone = (findings: readonly Finding[]): Finding[] => findings.filter(({ rule }) => rule !== UNUSED)

/** Checked in one scope with the setup, as it runs; only what lies in the scenario itself is reported. */
function withSetup(setup: Section | null, code: Section): Finding[] {
  if (setup === null) return inTest(lintTestCode(code))
  const lines = setup.text.split('\n').length
  const together = { line: code.line - lines, text: `${setup.text}\n${code.text}` }
  return inTest(lintTestCode(together)).filter(({ line }) => line >= code.line)
}

const inTest = (findings: readonly Finding[]): Finding[] =>
  findings.map((finding) => (finding.rule === UNUSED ? finding : { ...finding, rule: IN_SCENARIO }))

function nameProblems(name: string, earlier: readonly string[]): string[] {
  return [
    ...(SAFE_NAME.test(name) ? [] : [`Scenario "${name}": use letters, digits, spaces, hyphens and underscores only.`]),
    ...(earlier.includes(name) ? [`Scenario "${name}" is there twice.`] : []),
  ]
}
