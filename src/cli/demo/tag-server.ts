import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { Config } from '../../config.ts'
import { parseOutboundAllow } from '../../outbound/index.ts'
import { IMAGE_RELEASES } from '../../probes/index.ts'
import type { Chat } from './chat.ts'

/** The server that stands for the sites' tag servers and for Google's host, for the demo's probes. */
export interface TagServer {
  /** Without a trailing slash. */
  url: string
  close: () => Promise<void>
}

/** Reachable only from this machine. */
export const TAG_SERVER_HOST = '127.0.0.1'

/** Path below the address of a site's tag server. */
export const IMAGE_PATH = '/image'
const IMAGE = `gcr.io/cloud-tagging-10302018/gtm-cloud-image:${IMAGE_RELEASES.at(-1)?.version}`

/**
 * Answers below any prefix: `/healthy` as a tag server, `/gtm.js?id=…` as Google's host, and `/image` with an image's name as the
 * hosting provider. Passes requests for the chat on.
 *
 * @param preferredPort port of an earlier demo; another one is used when it is taken
 * @param versionOf returns the published version of a web container; undefined when there is none
 */
export async function startTagServer(
  preferredPort: number | null,
  versionOf: (containerId: string) => number | undefined,
  chat: Chat,
): Promise<TagServer> {
  let host = ''
  const server = createServer((request, response) => {
    if (chat.handle(request, response, host)) return
    const url = URL.parse(request.url ?? '/', `http://${TAG_SERVER_HOST}`)
    const version = url?.pathname.endsWith('/gtm.js') ? versionOf(url.searchParams.get('id') ?? '') : undefined
    if (url?.pathname.endsWith('/healthy')) {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('ok')
    } else if (url?.pathname.endsWith(IMAGE_PATH)) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ image: IMAGE }))
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
  host = `${TAG_SERVER_HOST}:${port}`
  return {
    url: `http://${host}`,
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** The settings that send the demo's probes and messages to its own server, also in place of Google's, and nowhere else. */
export function allowingTagServer(config: Config, url: string): Config {
  const { ranges, hosts } = config.outboundAllow
  const own = parseOutboundAllow(TAG_SERVER_HOST)
  const outboundAllow = { ranges: [...ranges, ...own.ranges], hosts }
  return { ...config, tagManagerBaseUrl: url, connectionCheckUrls: [], outboundAllow }
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, TAG_SERVER_HOST)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the tag server has no network address')
  return address.port
}

/** The beginning of a container's script, for an empty container. */
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
