import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { Config } from '../../config.ts'
import { parseOutboundAllow } from '../../lib/index.ts'

/** Where the demo's probes find the sites' tag servers, and what they take for Google's. */
export interface TagServer {
  /** Without a slash at its end. */
  url: string
  close: () => Promise<void>
}

/** Reached by this machine alone. */
export const TAG_SERVER_HOST = '127.0.0.1'

/**
 * Answers `/healthy` and `/gtm.js?id=…` behind any prefix, as a tag server and Google's host do.
 *
 * @param preferredPort of an earlier demo; another one is taken when somebody else has it
 * @param versionOf the published version of a web container; undefined when there is none
 */
export async function startTagServer(
  preferredPort: number | null,
  versionOf: (containerId: string) => number | undefined,
): Promise<TagServer> {
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '/', `http://${TAG_SERVER_HOST}`)
    const version = url?.pathname.endsWith('/gtm.js') ? versionOf(url.searchParams.get('id') ?? '') : undefined
    if (url?.pathname.endsWith('/healthy')) {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('ok')
    } else if (version !== undefined) {
      response.writeHead(200, { 'content-type': 'application/javascript; charset=UTF-8' }).end(gtmJs(version))
    } else {
      response.writeHead(404).end()
    }
  })
  const port = await listen(server, preferredPort ?? 0).catch((thrown: unknown) => {
    if (preferredPort === null) throw thrown
    return listen(server, 0)
  })
  return {
    url: `http://${TAG_SERVER_HOST}:${port}`,
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** The settings with which the demo's probes reach its tag server, and take it for Google's, too. */
export function allowingTagServer(config: Config, url: string): Config {
  const { ranges, hosts } = config.outboundAllow
  const own = parseOutboundAllow(TAG_SERVER_HOST)
  return { ...config, tagManagerBaseUrl: url, outboundAllow: { ranges: [...ranges, ...own.ranges], hosts } }
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, TAG_SERVER_HOST)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the tag server has no network address')
  return address.port
}

/** What stands at the beginning of every container's script, with nothing in the container. */
const gtmJs = (version: number): string => `(function(){
var data = {
"resource": {
  "version":"${version}",
  "macros":[],
  "tags":[],
  "predicates":[],
  "rules":[]
},
"runtime":[]
};
})();
`
