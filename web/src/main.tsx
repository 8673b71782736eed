import './theme/mantine.css'
import './theme/fonts.css'
import './theme/tokens.css'
import './theme/global.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { type AnyRoute, RouterProvider } from '@tanstack/react-router'
import { StrictMode, Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { createQueryClient } from './api/query-client.ts'
import { sessionQuery } from './api/session.ts'
import { lazyOr } from './lib/lazy-or.ts'
import { createAppRouter } from './routes/router.tsx'
import { cssVariablesResolver, theme } from './theme/theme.ts'

/** What a `<style>` element needs to be let in by the page's Content-Security-Policy; empty when the page has none. */
const styleNonce = (): string => document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''

/** Mantine's overlays lock the page's scrolling with a style of `get-nonce`, which looks for this name. */
Object.assign(globalThis, { __webpack_nonce__: styleNonce() })

/**
 * Beside the first page and not before it: nothing has happened yet that a toast could speak of. Those that come sooner wait for it. Where it
 * does not load, the page does without: browsers do not ask for it again.
 */
const Toasts = lazyOr(
  async () => (await import('./ui/Toasts.tsx')).Toasts,
  () => null,
)

const queryClient = createQueryClient()
// Asked for while the router still starts: nothing can be drawn before it is known who is there.
void queryClient.prefetchQuery(sessionQuery)
const router = createAppRouter(queryClient)
// So is the code of the page.
const routes: Readonly<Record<string, AnyRoute>> = router.routesById
for (const { routeId } of router.matchRoutes(router.latestLocation)) {
  const route = routes[routeId]
  if (route !== undefined) router.loadRouteChunk(route)?.catch(() => undefined)
}

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no #root')
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
    >
      <QueryClientProvider client={queryClient}>
        <Suspense>
          <Toasts />
        </Suspense>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
