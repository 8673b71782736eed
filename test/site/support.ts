import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { REPOSITORY } from '../../testkit/repository.ts'

export const DIST = join(REPOSITORY, 'site/dist')

/** Builds the site as `npm run docs:build` does. @throws Error with its output when a link is dead or the first load too large */
export async function buildSite(): Promise<string> {
  const env = { ...process.env, SITE_BASE: '/', SITE_REPOSITORY: 'https://github.com/example/tagwarden' }
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/site.ts', 'build'], { cwd: REPOSITORY, env })
  return stdout
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.png': 'image/png',
}

/** Serves the built site as a host of static files does. @returns its address */
export async function serveSite(t: TestContext): Promise<string> {
  const server = createServer(({ url = '/' }, response) => {
    const [path = '/'] = decodeURIComponent(url).split('?')
    const file = join(DIST, path.endsWith('/') ? `${path}index.html` : path)
    const isThere = file.startsWith(DIST) && existsSync(file)
    response.writeHead(isThere ? 200 : 404, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' })
    if (isThere) createReadStream(file).pipe(response)
    else response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
