import type { QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { mustSignIn, sessionQuery } from '../api/session.ts'
import { pages } from './pages.ts'
import {
  frameRoute,
  PageError,
  rootRoute,
  sharedIncidentRoute,
  signInRoute,
  statusRoute,
  subscriptionRoute,
  wallRoute,
  welcomeRoute,
} from './root.tsx'
import { parseSearch, stringifySearch } from './search.ts'

export function createAppRouter(queryClient: QueryClient) {
  const router = createRouter({
    routeTree: rootRoute.addChildren([
      frameRoute.addChildren(pages),
      wallRoute,
      signInRoute,
      welcomeRoute,
      statusRoute,
      sharedIncidentRoute,
      subscriptionRoute,
    ]),
    context: { queryClient },
    defaultPreload: 'intent',
    scrollRestoration: true,
    parseSearch,
    stringifySearch,
    defaultErrorComponent: PageError,
  })
  // A session that ends under a page leads to the sign-in; one that begins leads on from there, as does one that was asked for in vain before.
  queryClient.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated' || query.queryHash !== JSON.stringify(sessionQuery.queryKey)) return
    const session = queryClient.getQueryData(sessionQuery.queryKey)
    if (session !== undefined && (mustSignIn(session) || router.state.matches.some(({ status }) => status === 'error')))
      void router.invalidate()
  })
  // What was pressed went with its page: the next Tab begins in the new one, not at the top of the document.
  router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
    if (fromLocation && pathChanged && document.activeElement === document.body)
      document.getElementById('content')?.focus({ preventScroll: true })
  })
  return router
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
