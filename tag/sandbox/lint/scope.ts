import type { AnyNode, Identifier, Program } from 'acorn'
import { childrenOf, lineIn } from './walk.ts'

/** A name that nothing declares, with its line within the code. */
export interface FreeName {
  readonly name: string
  readonly line: number
}

/** The names that the code uses without declaring them. Knows the allowed syntax only: no patterns, no classes. */
export function freeNames(program: Program): FreeName[] {
  const free: FreeName[] = []
  visit(program, [declaredIn(program)], free)
  return free
}

type Scope = ReadonlySet<string>

function visit(node: AnyNode, scopes: readonly Scope[], free: FreeName[]): void {
  if (node.type === 'Identifier') {
    if (!scopes.some((scope) => scope.has(node.name))) free.push({ name: node.name, line: lineIn(node) })
    return
  }
  const inner = opensScope(node) ? [...scopes, declaredIn(node)] : scopes
  for (const child of references(node)) visit(child, inner, free)
}

/** The children in which an identifier is a variable, not the name of a member. */
function references(node: AnyNode): AnyNode[] {
  if (node.type === 'MemberExpression' && !node.computed) return [node.object]
  if (node.type === 'Property') return [node.value]
  return childrenOf(node)
}

const opensScope = (node: AnyNode): boolean =>
  isFunction(node) || node.type === 'BlockStatement' || isLoop(node) || node.type === 'SwitchStatement'

const isLoop = ({ type }: AnyNode): boolean =>
  type === 'ForStatement' || type === 'ForInStatement' || type === 'ForOfStatement'

type AnyFunction = AnyNode & { type: 'FunctionDeclaration' | 'FunctionExpression' | 'ArrowFunctionExpression' }

const isFunction = (node: AnyNode): node is AnyFunction =>
  node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression'

/** What a scope declares: parameters, `var`s however deep, and the let, const and functions directly in it. */
function declaredIn(scope: AnyNode): Scope {
  const names = new Set<string>()
  const add = (node: AnyNode | null | undefined) => {
    if (node?.type === 'Identifier') names.add(node.name)
  }
  if (isFunction(scope)) {
    for (const parameter of scope.params) add(parameter)
    if (scope.type === 'FunctionExpression') add(scope.id)
    if (scope.type !== 'ArrowFunctionExpression') names.add('arguments')
  }
  for (const child of childrenOf(scope)) collect(child, true, add)
  return names
}

function collect(node: AnyNode, direct: boolean, add: (name: Identifier | AnyNode | null) => void): void {
  if (node.type === 'FunctionDeclaration' && direct) add(node.id)
  if (isFunction(node)) return
  if (node.type === 'VariableDeclaration' && (direct || node.kind === 'var')) {
    for (const { id } of node.declarations) add(id)
  }
  // The cases of a switch share its scope; every other statement that holds statements opens its own.
  const deeper = direct && (node.type === 'SwitchCase' || node.type === 'VariableDeclaration')
  for (const child of childrenOf(node)) collect(child, deeper, add)
}
