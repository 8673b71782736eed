import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Found, SearchAnswer } from '../../../src/dashboard/index.ts'
import { request } from './client.ts'

export type { Found } from '../../../src/dashboard/index.ts'

/** A single letter matches nearly everything. */
const SHORTEST = 2
const LONGEST = 100

/** Searches by name what is not in the overview. */
export function searchQuery(text: string) {
  const q = text.trim().slice(0, LONGEST)
  return queryOptions({
    queryKey: ['search', q],
    queryFn: ({ signal }) => request<SearchAnswer>('/api/search', { query: { q }, signal }),
    enabled: q.length >= SHORTEST,
    placeholderData: keepPreviousData,
    retry: false,
  })
}

export type FoundKind = Found['kind']
