import type { Finding, Template } from '../types.ts'
import { lintTemplateCode } from './code.ts'
import { lintForm } from './form.ts'
import { lintInfo } from './info.ts'
import { UNUSED } from './names.ts'
import { lintPermissions } from './permissions.ts'
import { lintScenarios } from './scenarios.ts'

export { TEST_NAMES } from './code.ts'

/**
 * Rules that a container does not hold a template to: what only the gallery asks for, the style of this house, what this
 * runner does not play, what only breaks a scenario. A finding of any other rule is one that Tag Manager would refuse, or
 * that breaks while it runs.
 */
const WARNINGS: ReadonlySet<string> = new Set(['gallery', 'style', 'runner', 'scenario', UNUSED])

export const isWarning = ({ rule }: Finding): boolean => WARNINGS.has(rule)

/** All that the editor, the sandbox or the gallery would refuse, as far as it is known, by line; warnings among them. */
export function lintTemplate(template: Template): Finding[] {
  const { findings, uses } = lintTemplateCode(template)
  return [
    ...lintInfo(template),
    ...lintForm(template.parameters),
    ...findings,
    // Code that is not understood cannot say what it needs.
    ...(uses === null ? [] : lintPermissions(template, uses)),
    ...lintScenarios(template.tests),
  ].toSorted((one, other) => one.line - other.line)
}
