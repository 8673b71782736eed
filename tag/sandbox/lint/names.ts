import type { AnyNode, CallExpression, MemberExpression, Program } from 'acorn'
import { FORBIDDEN_PROPERTIES, METHODS } from '../realm/index.ts'
import { freeNames } from './scope.ts'
import { lineIn, walk } from './walk.ts'

/** A problem with its line within the code. */
export interface CodeProblem {
  readonly line: number
  readonly rule: string
  readonly message: string
}

/** A call of `require`; `variable` is where the API goes, if it goes straight into one. */
export interface RequireCall {
  readonly api: string
  readonly line: number
  readonly variable: string | null
}

/** Names that nothing gives to the code. `given` are those that the sandbox does. */
export function undeclared(program: Program, given: readonly string[]): CodeProblem[] {
  return freeNames(program)
    .filter(({ name }) => !given.includes(name))
    .map(({ name, line }) => ({
      line,
      rule: 'globals',
      message: `"${name}" is not declared, and the sandbox has no such global; APIs come from require.`,
    }))
}

/** The require calls, and those that the editor cannot read permissions from. */
export function requires(program: Program): { calls: RequireCall[]; problems: CodeProblem[] } {
  const calls: RequireCall[] = []
  const problems: CodeProblem[] = []
  for (const { node, parents } of walk(program)) {
    if (node.type !== 'Identifier' || node.name !== 'require') continue
    const parent = parents.at(-1)
    if (parent === undefined || isMemberName(node, parent)) continue
    const api = parent.type === 'CallExpression' && parent.callee === node ? onlyText(parent) : null
    if (api === null) {
      const message = 'require must be called with one text in quotes; permissions are derived from it.'
      problems.push({ line: lineIn(node), rule: 'require', message })
    } else calls.push({ api, line: lineIn(node), variable: variableOf(parents.at(-2)) })
  }
  return { calls, problems }
}

export const UNUSED = 'unused'

/** Variables that hold an API and are never read: the permission would be there for nothing. */
export function unusedApis(program: Program, calls: readonly RequireCall[]): CodeProblem[] {
  const uses = new Map<string, number>()
  for (const { node, parents } of walk(program)) {
    const parent = parents.at(-1)
    if (node.type === 'Identifier' && parent !== undefined && !isMemberName(node, parent)) {
      uses.set(node.name, (uses.get(node.name) ?? 0) + 1)
    }
  }
  return calls.flatMap(({ api, variable, line }) =>
    variable !== null && uses.get(variable) === 1
      ? [{ line, rule: UNUSED, message: `The API "${api}" is required but never used.` }]
      : [],
  )
}

/** Members that lead out of the sandbox, and methods that its values do not have. */
export function members(program: Program, apiVariables: readonly string[]): CodeProblem[] {
  return walk(program).flatMap(({ node, parents }) => {
    const name = memberName(node)
    if (name === null) return []
    if (FORBIDDEN_PROPERTIES.includes(name)) {
      return [{ line: lineIn(node), rule: 'members', message: `The member "${name}" is not in the sandbox.` }]
    }
    const parent = parents.at(-1)
    const called = parent?.type === 'CallExpression' && parent.callee === node
    if (!called || !MISSING_METHODS.has(name) || isApi(node, apiVariables)) return []
    if (SEEN_METHODS.includes(name)) {
      const message = `The method "${name}" is in published templates, and not in the documented standard library.`
      return [{ line: lineIn(node), rule: 'style', message }]
    }
    const message = `The method "${name}" is not in the sandbox's standard library.`
    return [{ line: lineIn(node), rule: 'methods', message }]
  })
}

/** A call of a required API, with its first argument if that is a text in quotes. */
export interface ApiCall {
  readonly api: string
  readonly text: string | null
  readonly line: number
}

/** What the code calls of what it requires. */
export function apiCalls(program: Program, calls: readonly RequireCall[]): ApiCall[] {
  const apis = new Map(calls.flatMap(({ api, variable }) => (variable === null ? [] : [[variable, api] as const])))
  return walk(program).flatMap(({ node }) => {
    if (node.type !== 'CallExpression') return []
    const { callee } = node
    const required = callee.type === 'CallExpression' && isRequire(callee) ? onlyText(callee) : null
    const api = callee.type === 'Identifier' ? (apis.get(callee.name) ?? null) : required
    const [first] = node.arguments
    if (api === null) return []
    const text = first?.type === 'Literal' && typeof first.value === 'string' ? first.value : null
    return [{ api, text, line: lineIn(first ?? node) }]
  })
}

/** The texts in quotes that come first in the calls of these functions. */
export function namedIn(program: Program, functions: readonly string[]): { name: string; line: number }[] {
  return walk(program).flatMap(({ node }) => {
    if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier') return []
    const [first] = node.arguments
    if (!functions.includes(node.callee.name) || first?.type !== 'Literal' || typeof first.value !== 'string') return []
    return [{ name: first.value, line: lineIn(first) }]
  })
}

const isRequire = ({ callee }: CallExpression): boolean => callee.type === 'Identifier' && callee.name === 'require'

/**
 * Without a call of one the editor refuses to save the template (R: ConversionsAPI-Client issue 7). A published one only
 * hands them on (O).
 */
export function signalsOutcome(program: Program): boolean {
  return walk(program).some(
    ({ node }) =>
      node.type === 'MemberExpression' &&
      node.object.type === 'Identifier' &&
      node.object.name === 'data' &&
      ['gtmOnSuccess', 'gtmOnFailure'].includes(memberName(node) ?? ''),
  )
}

/** The members of `data` that the code reads by name. */
export function dataFields(program: Program): Map<string, number> {
  const fields = new Map<string, number>()
  for (const { node } of walk(program)) {
    if (node.type !== 'MemberExpression' || node.object.type !== 'Identifier' || node.object.name !== 'data') continue
    const name = memberName(node)
    if (name !== null && !fields.has(name)) fields.set(name, lineIn(node))
  }
  return fields
}

const KEPT: ReadonlySet<string> = new Set<string>(Object.values(METHODS).flat())

/** The methods that Node's values have and no value of the sandbox has. */
const MISSING_METHODS: ReadonlySet<string> = new Set(
  [Array, String, Object, Boolean, Number, Function]
    .flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype))
    .filter((name) => !KEPT.has(name)),
)

/** Called by a template that many containers run (O). The runner has none of them: a scenario that needs one fails. */
const SEEN_METHODS: readonly string[] = ['startsWith']

function isApi(node: AnyNode, apiVariables: readonly string[]): boolean {
  if (node.type !== 'MemberExpression') return false
  const { object } = node
  if (object.type === 'Identifier') return apiVariables.includes(object.name)
  return object.type === 'CallExpression' && object.callee.type === 'Identifier' && object.callee.name === 'require'
}

function memberName(node: AnyNode): string | null {
  if (node.type === 'MemberExpression') return keyName(node.property, node.computed)
  return node.type === 'Property' ? keyName(node.key, node.computed) : null
}

function keyName(key: MemberExpression['property'], computed: boolean): string | null {
  if (key.type === 'Literal') return String(key.value)
  return key.type === 'Identifier' && !computed ? key.name : null
}

const isMemberName = (node: AnyNode, parent: AnyNode): boolean =>
  (parent.type === 'MemberExpression' && parent.property === node && !parent.computed) ||
  (parent.type === 'Property' && parent.key === node && !parent.computed)

function onlyText({ arguments: given }: CallExpression): string | null {
  const [first] = given
  return given.length === 1 && first?.type === 'Literal' && typeof first.value === 'string' ? first.value : null
}

const variableOf = (node: AnyNode | undefined): string | null =>
  node?.type === 'VariableDeclarator' && node.id.type === 'Identifier' ? node.id.name : null
