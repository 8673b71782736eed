import { Button } from '@mantine/core'
import { type QueryClient, useQuery } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  type ErrorComponentProps,
  Link,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { Compass, Hourglass, type LucideIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { mustSignIn, sessionQuery } from '../api/session.ts'
import { isNotLoaded } from '../ui/error-words.ts'
import { EmptyState, ErrorState } from '../ui/States.tsx'
import { useTab } from '../ui/status/status.ts'
import { Frame } from './frame/Frame.tsx'

export const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: Outlet,
  errorComponent: PageError,
  notFoundComponent: NotFound,
})

interface Opening {
  context: { queryClient: QueryClient }
  location: { href: string }
}

async function requireSession({ context, location }: Opening): Promise<void> {
  const session = await context.queryClient.ensureQueryData(sessionQuery)
  if (mustSignIn(session)) throw redirect({ to: '/sign-in', search: { next: location.href } as object })
}

/** Parent of all pages except the sign-in, the wall and shared pages: rail, top bar, and a session is required. */
export const frameRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'frame',
  component: Frame,
  beforeLoad: requireSession,
  pendingComponent: Waiting,
})

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  component: lazyRouteComponent(() => import('../features/sign-in/SignInPage.tsx'), 'SignInPage'),
})

/** The page of a one-time link, for people who cannot sign in yet. */
export const welcomeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/welcome',
  component: lazyRouteComponent(() => import('../features/sign-in/WelcomePage.tsx'), 'WelcomePage'),
})

/** For a screen that no one touches: requires a session, but has no rail and top bar. */
export const wallRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/wall',
  beforeLoad: requireSession,
  pendingComponent: Waiting,
  component: lazyRouteComponent(() => import('../features/wall/WallPage.tsx'), 'WallPage'),
})

/** For people without a key, so outside of the frame, which requires one. */
export const statusRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/status/$token',
  component: lazyRouteComponent(() => import('../features/status/StatusPage.tsx'), 'StatusPage'),
})

/** One incident of the client, under the same link. */
export const sharedIncidentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/status/$token/incidents/$incidentId',
  component: lazyRouteComponent(() => import('../features/status/SharedIncidentPage.tsx'), 'SharedIncidentPage'),
})

/** A subscription to the status page, as linked in its e-mails. */
export const subscriptionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/status/$token/subscription/$secret',
  component: lazyRouteComponent(() => import('../features/status/SubscriptionPage.tsx'), 'SubscriptionPage'),
})

/** Unsubscribes from digests, as linked in them. */
export const digestRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/status/digests/$secret',
  component: lazyRouteComponent(() => import('../features/status/DigestPage.tsx'), 'DigestPage'),
})

function NotFound() {
  useTab('Page not found · Tagwarden', 'unknown')
  return (
    <EmptyState
      as="main"
      icon={Compass}
      title="Page not found"
      action={
        <Button component={Link} to="/overview">
          Go to the overview
        </Button>
      }
    >
      The link may be old, or what it led to was deleted.
    </EmptyState>
  )
}

/** Shown after a second: on a slow connection it may take long until the session is known and anything can be drawn. */
function Waiting() {
  return (
    <EmptyState as="main" icon={Hourglass} title="Waiting for Tagwarden">
      It has not answered yet.
    </EmptyState>
  )
}

/** Interval at which the session is requested again, ms. */
const RETRY_MS = 10_000
/** After a reload, a page does not reload again by itself before this, ms: code that stays missing would make it blink for ever. */
const SETTLE_MS = 300_000

/**
 * Shown instead of a page that threw; the rail and the top bar stay. While the session is unknown, it keeps requesting it, and the router
 * continues with the answer. It does so while the page's code could not be loaded, too: with an answer, it can be.
 */
export function PageError({ error }: ErrorComponentProps) {
  const fault = error instanceof Error ? error : new Error(String(error))
  const waitsForCode = isNotLoaded(fault)
  const [since] = useState(Date.now)
  const { dataUpdatedAt } = useQuery({
    ...sessionQuery,
    refetchInterval: ({ state }) => (waitsForCode || state.data === undefined) && RETRY_MS,
    refetchOnReconnect: 'always',
  })
  useEffect(() => {
    if (waitsForCode && dataUpdatedAt > since && maySelfReload()) reload()
  }, [waitsForCode, dataUpdatedAt, since])
  return (
    <>
      <h1 className="sr-only">Error</h1>
      {/* Reload, because code that could not be loaded may be of an old version, and what threw would throw again. */}
      <ErrorState error={fault} onRetry={reload} />
    </>
  )
}

const reload = () => window.location.reload()

function maySelfReload(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  return navigation?.type !== 'reload' || performance.now() > SETTLE_MS
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The page's entry in the rail; absent for pages reached from another. */
    nav?: { label: string; icon: LucideIcon }
  }
}
