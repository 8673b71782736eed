import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router'
import { mustSignIn, sessionQuery } from '../api/session.ts'
import { Frame } from './frame/Frame.tsx'
import { NotFound } from './NotFound.tsx'
import { PageError } from './PageError.tsx'
import './page.ts'

export const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: Outlet,
  errorComponent: PageError,
  notFoundComponent: NotFound,
})

/** Everything but the sign-in and what is shared: the rail, the top bar, and no one without a session. */
export const frameRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'frame',
  component: Frame,
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery)
    if (mustSignIn(session)) throw redirect({ to: '/sign-in', search: { next: location.href } as object })
  },
})

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  component: lazyRouteComponent(() => import('../features/sign-in/SignInPage.tsx'), 'SignInPage'),
})

/** For people without a key: outside of the frame, which asks for one. */
export const statusRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/status/$token',
  component: lazyRouteComponent(() => import('../features/status/StatusPage.tsx'), 'StatusPage'),
})
