import './theme/mantine.css'
import './theme/fonts.css'
import './theme/tokens.css'
import './theme/global.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { type AnyRoute, RouterProvider } from '@tanstack/react-router'
import { type ReactNode, StrictMode, Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { createQueryClient } from './api/query-client.ts'
import { sessionQuery } from './api/session.ts'
import { lazyOr } from './lib/lazy-or.ts'
import { usePrinting } from './lib/use-print.ts'
import { createAppRouter } from './routes/router.tsx'
import { cssVariablesResolver, theme } from './theme/theme.ts'

/** The nonce with which the page's Content-Security-Policy allows a `<style>` element; empty without a policy. */
const styleNonce = (): string => document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''

/** `get-nonce` looks for this name. Mantine's overlays use it for the style that locks the page's scrolling. */
Object.assign(globalThis, { __webpack_nonce__: styleNonce() })

/**
 * Loaded beside the first page, because there is nothing to show yet; toasts that come sooner wait for it. If it cannot be loaded, the
 * page does without: browsers do not request a failed module again.
 */
const Toasts = lazyOr(
  async () => (await import('./ui/Toasts.tsx')).Toasts,
  () => null,
)

const queryClient = createQueryClient()
// Prefetch while the router starts, because nothing can be drawn without the session.
void queryClient.prefetchQuery(sessionQuery)
const router = createAppRouter(queryClient)
// Load the page's code meanwhile, too.
const routes: Readonly<Record<string, AnyRoute>> = router.routesById
for (const { routeId } of router.matchRoutes(router.latestLocation)) {
  const route = routes[routeId]
  if (route !== undefined) router.loadRouteChunk(route)?.catch(() => undefined)
}

/** Forces light colours on paper; setting them would store the choice, and turn other tabs light, too. */
function Themed({ children }: { children: ReactNode }) {
  const onPaper = usePrinting()
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      defaultColorScheme="auto"
      {...(onPaper && { forceColorScheme: 'light' })}
      getStyleNonce={styleNonce}
    >
      {children}
    </MantineProvider>
  )
}

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no #root')
createRoot(root).render(
  <StrictMode>
    <Themed>
      <QueryClientProvider client={queryClient}>
        <Suspense>
          <Toasts />
        </Suspense>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </Themed>
  </StrictMode>,
)
