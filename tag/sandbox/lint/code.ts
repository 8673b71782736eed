import { apiNamed, unknownApi } from '../apis/index.ts'
import type { Finding, Section, Template } from '../types.ts'
import {
  type ApiCall,
  apiCalls,
  type CodeProblem,
  dataFields,
  members,
  namedIn,
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

/** What the permissions have to allow: what the code requires, and what it calls with which key in quotes. */
export interface CodeUses {
  readonly required: readonly RequireCall[]
  readonly calls: readonly ApiCall[]
}

/** The template's code: syntax, names, APIs, and how it goes with the settings form. */
export function lintTemplateCode(template: Template): { findings: Finding[]; uses: CodeUses | null } {
  const { code, info, parameters } = template
  const { findings, calls, program } = lintAny(code, [...SANDBOX_NAMES, 'data'])
  if (program === null) return { findings, uses: null }
  const uses = { required: calls, calls: apiCalls(program, calls) }
  // A variable returns its value, and a client claims its request: only a tag says how it ended.
  if (info.value.type === 'TAG' && !signalsOutcome(program)) {
    const message = 'The code must call data.gtmOnSuccess or data.gtmOnFailure; the editor refuses it otherwise.'
    findings.push({ line: code.line, rule: 'outcome', message })
  }
  const read = dataFields(program)
  for (const [name, line] of read) {
    if (RUNTIME_FIELDS.includes(name) || parameters.some((parameter) => parameter.name === name)) continue
    findings.push({ line: code.line + line - 1, rule: 'style', message: `data.${name} is no field of the form.` })
  }
  for (const { name, type, line } of parameters) {
    if (read.has(name) || type === 'GROUP' || type === 'LABEL') continue
    findings.push({ line, rule: 'style', message: `The field "${name}" is never read as data.${name}.` })
  }
  return { findings, uses }
}

/** Code of ___TESTS___. */
export function lintTestCode(code: Section): Finding[] {
  const { findings, program } = lintAny(code, [...SANDBOX_NAMES, ...TEST_NAMES])
  if (program === null) return findings
  const mocked = namedIn(program, ['mock', 'mockObject'])
  const ofNothing = mocked.filter(({ name }) => apiNamed(name) === undefined && !RUNTIME_FIELDS.includes(name))
  return [
    ...findings,
    ...ofNothing.map(({ name, line }) => ({
      line: code.line + line - 1,
      rule: 'mocks',
      message: `There is nothing called "${name}" to mock.`,
    })),
  ]
}

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

function unknown({ api, line }: RequireCall): CodeProblem[] {
  const known = apiNamed(api)
  if (known === undefined) return [{ line, rule: 'require', message: unknownApi(api) }]
  if (known.isMockedOnly !== true) return []
  const message = `This runner does not play ${api}: scenarios have to mock it, and the container's tests cannot use it.`
  return [{ line, rule: 'runner', message }]
}
