/** The fields of `after` that differ from `before`, with their values in `after`. */
export function changedFields<T extends object>(before: T, after: T): Partial<T> {
  const changed: Partial<T> = {}
  for (const key in after) {
    if (before[key] !== after[key]) changed[key] = after[key]
  }
  return changed
}
