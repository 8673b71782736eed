/**
 * A stand-in for the Google Tag Manager server container: reads a template, checks it, runs its own tests, and runs it
 * over real HTTP. README.md says what that proves and what it cannot.
 */
export { Container } from './container/index.ts'
export { isWarning, lintTemplate } from './lint/index.ts'
export { parseTemplate, TemplateError } from './parse/index.ts'
export { runTemplateTests } from './tests/index.ts'
export type {
  ContainerOptions,
  Finding,
  OtherTag,
  Plain,
  ScenarioResult,
  SentRequest,
  TagStatus,
  Template,
} from './types.ts'
