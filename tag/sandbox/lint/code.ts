import { apiNamed, unknownApi } from '../apis/index.ts'
import type { Finding, Section, Template } from '../types.ts'
import {
  type CodeProblem,
  dataFields,
  members,
  type RequireCall,
  requires,
  signalsOutcome,
  undeclared,
  unusedApis,
} from './names.ts'
import { parseCode } from './syntax.ts'

/** What every piece of sandboxed code gets from its surroundings. */
const SANDBOX_NAMES = ['require', 'undefined']

/** What code in ___TESTS___ gets beside that. */
export const TEST_NAMES = ['runCode', 'mock', 'mockObject', 'assertApi', 'assertThat', 'fail'] as const

/** The fields of `data` that come from the runtime. `gtmTagId` is certain in web containers only. */
const RUNTIME_FIELDS = ['gtmOnSuccess', 'gtmOnFailure', 'gtmTagId', 'gtmEventId']

/** The template's code: syntax, names, APIs, and how it goes with the settings form. */
export function lintTemplateCode(template: Template): { findings: Finding[]; calls: RequireCall[] } {
  const { code, parameters } = template
  const { findings, calls, program } = lintAny(code, [...SANDBOX_NAMES, 'data'])
  if (program === null) return { findings, calls }
  if (!signalsOutcome(program)) {
    const message = 'The code must call data.gtmOnSuccess or data.gtmOnFailure; the editor refuses it otherwise.'
    findings.push({ line: code.line, rule: 'outcome', message })
  }
  const read = dataFields(program)
  for (const [name, line] of read) {
    if (RUNTIME_FIELDS.includes(name) || parameters.some((parameter) => parameter.name === name)) continue
    findings.push({ line: code.line + line - 1, rule: 'form', message: `data.${name} is no field of the form.` })
  }
  for (const { name, type, line } of parameters) {
    if (read.has(name) || type === 'GROUP' || type === 'LABEL') continue
    findings.push({ line, rule: 'form', message: `The field "${name}" is never read as data.${name}.` })
  }
  return { findings, calls }
}

/** Code of ___TESTS___. */
export const lintTestCode = (code: Section): Finding[] => lintAny(code, [...SANDBOX_NAMES, ...TEST_NAMES]).findings

function lintAny(code: Section, names: readonly string[]) {
  const { program, findings } = parseCode(code)
  // The checks of names know the allowed syntax only.
  if (program === null || findings.length > 0) return { program: null, findings, calls: [] }
  const { calls, problems } = requires(program)
  const apiVariables = calls.flatMap(({ variable }) => (variable === null ? [] : [variable]))
  const all = [
    ...problems,
    ...calls.flatMap(unknown),
    ...unusedApis(program, calls),
    ...undeclared(program, names),
    ...members(program, apiVariables),
  ]
  findings.push(...all.map(({ line, rule, message }) => ({ line: code.line + line - 1, rule, message })))
  return { program, findings, calls }
}

const unknown = ({ api, line }: RequireCall): CodeProblem[] =>
  apiNamed(api) === undefined ? [{ line, rule: 'require', message: unknownApi(api) }] : []
