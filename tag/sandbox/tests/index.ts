import type { ScenarioResult, Template } from '../types.ts'
import { runScenario } from './scenario.ts'

/** Runs the scenarios of ___TESTS___ in their order, as the editor's Tests tab does. */
export function runTemplateTests(template: Template): ScenarioResult[] {
  return template.tests.scenarios.map((scenario) => runScenario(template, template.tests, scenario))
}
