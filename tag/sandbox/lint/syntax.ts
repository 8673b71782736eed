import { type AnyNode, type Program, parse } from 'acorn'
import type { Finding, Section } from '../types.ts'
import { lineIn, walk } from './walk.ts'

/**
 * Parses code as the sandbox takes it. What the sandbox refuses is a finding; the tree is null if the text is no
 * JavaScript at all.
 */
export function parseCode(code: Section): { program: Program | null; findings: Finding[] } {
  const finding = (line: number, message: string): Finding => ({ line: code.line + line - 1, rule: 'syntax', message })
  const latest = attempt(code.text, 'latest')
  if ('error' in latest) return { program: null, findings: [finding(latest.line, latest.error)] }
  const findings = walk(latest.program).flatMap(({ node }) => {
    const problem = problemWith(node)
    return problem === null ? [] : [finding(lineIn(node), problem)]
  })
  // Later syntax that leaves no trace in the tree, such as a comma after the last argument.
  const older = findings.length === 0 ? attempt(code.text, 6) : latest
  if ('error' in older) findings.push(finding(older.line, `${older.error}: newer than what the sandbox takes`))
  return { program: latest.program, findings }
}

function attempt(text: string, ecmaVersion: 6 | 'latest'): { program: Program } | { error: string; line: number } {
  try {
    // The code is the body of a function, so it may return (D, O).
    return {
      program: parse(text, { ecmaVersion, sourceType: 'script', allowReturnOutsideFunction: true, locations: true }),
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const { loc } = error as SyntaxError & { loc?: { line: number } }
    return { error: `Syntax error: ${error.message.replace(/ \(\d+:\d+\)$/, '')}`, line: loc?.line ?? 1 }
  }
}

/**
 * ECMAScript 5.1 with arrow functions, const and let (D), for…of (O), less what no published template uses (O) or what
 * the documentation rules out (D). Everything that is not here is refused.
 */
const ALLOWED: ReadonlySet<AnyNode['type']> = new Set<AnyNode['type']>([
  'ArrayExpression',
  'ArrowFunctionExpression',
  'AssignmentExpression',
  'BinaryExpression',
  'BlockStatement',
  'BreakStatement',
  'CallExpression',
  'ConditionalExpression',
  'ContinueStatement',
  'DoWhileStatement',
  'EmptyStatement',
  'ExpressionStatement',
  'ForInStatement',
  'ForOfStatement',
  'ForStatement',
  'FunctionDeclaration',
  'FunctionExpression',
  'Identifier',
  'IfStatement',
  'Literal',
  'LogicalExpression',
  'MemberExpression',
  'ObjectExpression',
  'Program',
  'Property',
  'ReturnStatement',
  'SequenceExpression',
  'SwitchCase',
  'SwitchStatement',
  'UnaryExpression',
  'UpdateExpression',
  'VariableDeclaration',
  'VariableDeclarator',
  'WhileStatement',
])

/** What to do instead, for what people try. */
const HINTS: Readonly<Record<string, string>> = {
  ArrayPattern: 'Destructuring is not in the sandbox; read the items one by one.',
  AssignmentPattern: 'Default parameters are not in the sandbox; test for undefined.',
  AwaitExpression: 'await is not in the sandbox; use then.',
  ChainExpression: 'Optional chaining is not in the sandbox; test with &&.',
  ClassDeclaration: 'Classes are not in the sandbox.',
  ClassExpression: 'Classes are not in the sandbox.',
  NewExpression: '"new" is not in the sandbox; there are no constructors.',
  ObjectPattern: 'Destructuring is not in the sandbox; read the members one by one.',
  RestElement: 'Rest parameters are not in the sandbox; use arguments.',
  SpreadElement: 'Spread is not in the sandbox; use concat, or copy member by member.',
  TaggedTemplateExpression: 'Template literals are not in the sandbox; join with +.',
  TemplateLiteral: 'Template literals are not in the sandbox; join with +.',
  ThisExpression: '"this" is not in the sandbox.',
  ThrowStatement: '"throw" is not in the sandbox; call data.gtmOnFailure().',
  TryStatement: '"try" is not in the sandbox; its APIs do not throw on bad values.',
}

/** Why the sandbox refuses a node, or null. */
function problemWith(node: AnyNode): string | null {
  // Its parts say what it is; the wrapper would say it again.
  if (node.type === 'TemplateElement' || node.type === 'CatchClause' || node.type === 'ClassBody') return null
  if (!ALLOWED.has(node.type)) return HINTS[node.type] ?? `${node.type} is not in the sandbox.`
  switch (node.type) {
    case 'Literal':
      if (node.regex != null) return 'Regex literals are not in the sandbox; use match, search or replace with a text.'
      return node.bigint == null ? null : 'BigInt is not in the sandbox.'
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      if (node.async) return 'async is not in the sandbox; use then.'
      return node.generator ? 'Generators are not in the sandbox.' : null
    case 'Property':
      return propertyProblem(node)
    case 'UnaryExpression':
      return node.operator === 'delete'
        ? '"delete" is not in the sandbox; use Object.delete of require("Object").'
        : null
    case 'BinaryExpression':
      return node.operator === 'instanceof' || node.operator === '**' ? notThere(node.operator) : null
    case 'LogicalExpression':
      return node.operator === '??' ? notThere(node.operator) : null
    case 'AssignmentExpression':
      return ['**=', '??=', '&&=', '||='].includes(node.operator) ? notThere(node.operator) : null
    default:
      return null
  }
}

function propertyProblem(node: AnyNode & { type: 'Property' }): string | null {
  if (node.kind !== 'init') return 'Getters and setters are not in the sandbox.'
  if (node.computed) return 'Computed keys are not in the sandbox; assign with brackets afterwards.'
  if (node.method) return 'Methods in short form are not in the sandbox; write "name: function () {…}".'
  return node.shorthand ? 'Members in short form were not seen in templates; write "name: name".' : null
}

const notThere = (operator: string): string => `"${operator}" is not in the sandbox.`
