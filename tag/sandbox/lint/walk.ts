import type { AnyNode, Node } from 'acorn'

/** A node with those around it, the nearest last. */
export interface Visit {
  readonly node: AnyNode
  readonly parents: readonly AnyNode[]
}

/** Every node of a tree, parents before children, in the order of the text. */
export function* walk(node: AnyNode, parents: readonly AnyNode[] = []): Generator<Visit> {
  yield { node, parents }
  const around = [...parents, node]
  for (const child of childrenOf(node)) yield* walk(child, around)
}

export function childrenOf(node: AnyNode): AnyNode[] {
  return Object.values(node).flatMap((value: unknown) => (Array.isArray(value) ? value : [value]).filter(isNode))
}

const isNode = (value: unknown): value is AnyNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof (value as Node).type === 'string'

/** The one-based line within the parsed text. */
export const lineIn = (node: Node): number => node.loc?.start.line ?? 1
