import type { QueryKey } from '@tanstack/react-query'

/**
 * Keeps showing the last answer while another one loads, if both are about the same: another client's rows would be wrong, not only old.
 *
 * @param isSame whether that answer's key is about the same client and site
 */
export const keepSame =
  (isSame: (key: QueryKey) => boolean) =>
  <T>(before: T | undefined, query: { queryKey: QueryKey } | undefined): T | undefined =>
    query !== undefined && isSame(query.queryKey) ? before : undefined
