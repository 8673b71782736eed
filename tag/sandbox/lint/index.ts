import type { Finding, Template } from '../types.ts'
import { lintTemplateCode } from './code.ts'
import { lintForm } from './form.ts'
import { lintInfo } from './info.ts'
import { lintPermissions } from './permissions.ts'
import { lintScenarios } from './scenarios.ts'

export { TEST_NAMES } from './code.ts'

/** All that the editor, the sandbox or the gallery would refuse, as far as it is known, by line. */
export function lintTemplate(template: Template): Finding[] {
  const { findings, calls } = lintTemplateCode(template)
  return [
    ...lintInfo(template),
    ...lintForm(template.parameters),
    ...findings,
    ...lintPermissions(template, calls),
    ...lintScenarios(template.tests),
  ].toSorted((one, other) => one.line - other.line)
}
