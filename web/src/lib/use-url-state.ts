import { useNavigate, useRouter, useRouterState } from '@tanstack/react-router'
import { useCallback } from 'react'

export interface UrlStateOptions {
  /** Whether the back button returns to the previous value: right for places such as a tab, wrong for text being typed. */
  push?: boolean
}

/**
 * A text kept in the page's address, so that a link opens exactly this view. The fallback is not written.
 *
 * @param name of the search parameter
 * @param allowed values; any other one in the address counts as the fallback
 */
export function useUrlState<T extends string = string>(
  name: string,
  fallback: NoInfer<T>,
  allowed?: readonly T[],
  { push = false }: UrlStateOptions = {},
): [value: T, set: (value: T) => void] {
  const found = useRouterState({ select: (state) => (state.location.search as UrlSearch)[name] })
  const setAll = useSetUrlState({ push })
  const value = found !== undefined && (allowed?.includes(found as T) ?? true) ? (found as T) : fallback
  const set = useCallback(
    (next: T) => setAll({ [name]: next === fallback ? undefined : next }),
    [setAll, name, fallback],
  )
  return [value, set]
}

export type UrlSearch = Readonly<Record<string, string | undefined>>

/**
 * Changes some search parameters of this page and leaves the others; `undefined` removes one. Changes nothing once the user has gone to
 * another page: a form may be saved only then.
 */
export function useSetUrlState({ push = false }: UrlStateOptions = {}): (changes: UrlSearch) => void {
  const navigate = useNavigate()
  const router = useRouter()
  const here = useRouterState({ select: ({ location }) => location.pathname })
  return useCallback(
    (changes: UrlSearch) => {
      if (router.latestLocation.pathname !== here) return
      void navigate({
        to: '.',
        search: (now: UrlSearch) => withoutUndefined({ ...now, ...changes }),
        replace: !push,
        resetScroll: false,
      })
    },
    [navigate, router, here, push],
  )
}

const withoutUndefined = (search: UrlSearch): UrlSearch =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined))
