import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import files from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { refuseUnknownPath } from './errors.ts'
import { pathOf } from './formats.ts'
import type { HttpApp } from './schemas.ts'

/** The page of an address that nothing else answers, for browsers: the dashboard finds its own way from there. */
export type PageHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

const PLACEHOLDER = 'CSP_NONCE'

/** Said by a page that looks like nothing, as there is nothing to make it look with. */
const NOT_BUILT = `<!doctype html>
<html lang="en">
<title>Tagwarden</title>
<h1>The dashboard is not built</h1>
<p>Tagwarden runs and takes data. To build its dashboard, run <code>npm start</code> or
<code>node scripts/ensure-dashboard.mjs</code> in its folder, then reload this page.
It needs the development packages: <code>npm ci</code> without <code>--omit=dev</code>.</p>
<p>The API is described at <a href="/api/docs">/api/docs</a>.</p>
</html>
`

/**
 * Nothing from another host, no script in a page, no frame around it. Components make `<style>` elements as they go, so the
 * page carries a nonce for those.
 */
const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

/** Anyone who has such an address may read what is there, so it goes to no other site and into no index. */
const SECRET_ADDRESS = /^\/status\//i
const SECRET_HEADERS = { 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex, nofollow' }

/**
 * Serves the files that `vite build` made, and gives the handler for everything that is no file.
 *
 * @param folder of the build; it may be missing, or be rebuilt while we run
 */
export async function serveDashboard(app: HttpApp, folder: string): Promise<PageHandler> {
  // The names of assets hold the hash of their content.
  await serveFiles(app, folder, 'assets', 'public, max-age=31536000, immutable')
  await serveFiles(app, folder, 'static', 'no-cache')
  const page = join(folder, 'index.html')
  return async (request, reply) => {
    if (!wantsPage(request)) refuseUnknownPath(request)
    const nonce = randomBytes(16).toString('base64url')
    const html = await readFile(page, 'utf8').catch(() => null)
    return reply
      .code(html === null ? 503 : 200)
      .type('text/html; charset=utf-8')
      .headers({
        'content-security-policy': policyWith(nonce),
        ...(SECRET_ADDRESS.test(pathOf(request.url)) ? SECRET_HEADERS : { 'referrer-policy': 'same-origin' }),
        'cross-origin-opener-policy': 'same-origin',
        // Each answer has a nonce of its own.
        'cache-control': 'no-store',
      })
      .send(html?.replaceAll(PLACEHOLDER, nonce) ?? NOT_BUILT)
  }
}

/** Paths of the interface and of tags: what is unknown there is an error of a program, also when a browser asks. */
const NO_PAGES = /^\/(?:api|badge|ingest|assets|static|metrics|health|ready)(?:\/|$)/

async function serveFiles(app: HttpApp, folder: string, name: string, cacheControl: string): Promise<void> {
  await app.register(files, {
    root: join(folder, name),
    prefix: `/${name}/`,
    index: false,
    decorateReply: false,
    cacheControl: false,
    preCompressed: true,
    // The build may come later.
    suppressWarning: true,
    setHeaders: (reply) => {
      reply.header('cache-control', cacheControl)
    },
  })
}

/** The end of the name of a file, which is no page. */
const FILE = /\.[\w-]{1,16}$/

/**
 * A browser that goes to an address says that it takes HTML, and what a page loads does not. Who takes anything, as command lines
 * do, gets a page too, but not for a file that is not there.
 */
function wantsPage({ method, url, headers }: FastifyRequest): boolean {
  const path = pathOf(url)
  if ((method !== 'GET' && method !== 'HEAD') || NO_PAGES.test(path)) return false
  const { accept = '*/*' } = headers
  return accept.includes('text/html') || (accept.includes('*/*') && !FILE.test(path))
}
