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
import { mustSignIn, sessionQuery } from '../api/session.ts'
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

/** Everything but the sign-in, the wall and what is shared: the rail, the top bar, and no one without a session. */
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

/** Where a one-time link leads: for who cannot sign in yet. */
export const welcomeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/welcome',
  component: lazyRouteComponent(() => import('../features/sign-in/WelcomePage.tsx'), 'WelcomePage'),
})

/** For a screen that no one touches: as the pages in the frame, without rail and top bar. */
export const wallRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/wall',
  beforeLoad: requireSession,
  pendingComponent: Waiting,
  component: lazyRouteComponent(() => import('../features/wall/WallPage.tsx'), 'WallPage'),
})

/** For people without a key: outside of the frame, which asks for one. */
export const statusRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/status/$token',
  component: lazyRouteComponent(() => import('../features/status/StatusPage.tsx'), 'StatusPage'),
})

/** Under the same link: one incident of the client. */
export const sharedIncidentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/status/$token/incidents/$incidentId',
  component: lazyRouteComponent(() => import('../features/status/SharedIncidentPage.tsx'), 'SharedIncidentPage'),
})

/** Under the same link: someone's subscription to it, as the e-mails have it. */
export const subscriptionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/status/$token/subscription/$secret',
  component: lazyRouteComponent(() => import('../features/status/SubscriptionPage.tsx'), 'SubscriptionPage'),
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

/** After a second: on a slow line nothing can be drawn for long before it is known who is there. */
function Waiting() {
  return (
    <EmptyState as="main" icon={Hourglass} title="Waiting for Tagwarden">
      It has not answered yet.
    </EmptyState>
  )
}

/** How long it waits before it asks again who is there, ms. */
const RETRY_MS = 10_000

/**
 * Stands where a page was, when it threw. The rail and the top bar stay. Where no one knows who is there, it goes on asking: the router leads on
 * with the answer.
 */
export function PageError({ error }: ErrorComponentProps) {
  useQuery({ ...sessionQuery, refetchInterval: ({ state }) => state.data === undefined && RETRY_MS })
  return (
    <>
      <h1 className="sr-only">Error</h1>
      {/* Code that did not load may be of a version that is gone, and what threw would throw again. */}
      <ErrorState
        error={error instanceof Error ? error : new Error(String(error))}
        onRetry={() => window.location.reload()}
      />
    </>
  )
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The page's entry in the rail; none for pages that one reaches from another. */
    nav?: { label: string; icon: LucideIcon }
  }
}
