import type { QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { mustSignIn, sessionQuery } from '../api/session.ts'
import { pages } from './pages.ts'
import {
  digestRoute,
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
      digestRoute,
    ]),
    context: { queryClient },
    defaultPreload: 'intent',
    scrollRestoration: true,
    parseSearch,
    stringifySearch,
    defaultErrorComponent: PageError,
  })
  // Reroute when the session ends, begins, or is known after failed requests: to the sign-in, or on from there.
  queryClient.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated' || query.queryHash !== JSON.stringify(sessionQuery.queryKey)) return
    const session = queryClient.getQueryData(sessionQuery.queryKey)
    if (session !== undefined && (mustSignIn(session) || router.state.matches.some(({ status }) => status === 'error')))
      void router.invalidate()
  })
  // The focused link is gone with its page: focus the new content, so that the next Tab begins there and not at the top.
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
