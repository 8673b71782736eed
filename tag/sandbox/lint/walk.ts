import type { AnyNode, Node } from 'acorn'

/** A node with those around it, the nearest last. */
export interface Visit {
  readonly node: AnyNode
  readonly parents: readonly AnyNode[]
}

/** Walked already: every check of a program goes over all of it, and there are as many programs as scenarios. */
const walked = new WeakMap<AnyNode, readonly Visit[]>()

/** Every node of a tree, parents before children, in the order of the text. */
export function walk(root: AnyNode): readonly Visit[] {
  const known = walked.get(root)
  if (known !== undefined) return known
  const visits: Visit[] = []
  const visit = (node: AnyNode, parents: readonly AnyNode[]): void => {
    visits.push({ node, parents })
    const around = [...parents, node]
    for (const child of childrenOf(node)) visit(child, around)
  }
  visit(root, [])
  walked.set(root, visits)
  return visits
}

export function childrenOf(node: AnyNode): AnyNode[] {
  const children: AnyNode[] = []
  for (const value of Object.values(node) as unknown[]) {
    if (Array.isArray(value)) children.push(...value.filter(isNode))
    else if (isNode(value)) children.push(value)
  }
  return children
}

const isNode = (value: unknown): value is AnyNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof (value as Node).type === 'string'

/** The one-based line within the parsed text. */
export const lineIn = (node: Node): number => node.loc?.start.line ?? 1
