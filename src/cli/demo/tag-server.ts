import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { Config } from '../../config.ts'
import { parseOutboundAllow } from '../../outbound/index.ts'
import { IMAGE_RELEASES } from '../../probes/index.ts'
import type { Chat } from './chat.ts'

/** Where the demo's probes find the sites' tag servers, and what they take for Google's. */
export interface TagServer {
  /** Without a slash at its end. */
  url: string
  close: () => Promise<void>
}

/** Reached by this machine alone. */
export const TAG_SERVER_HOST = '127.0.0.1'

/** Behind the address of a site's tag server. */
export const IMAGE_PATH = '/image'
const IMAGE = `gcr.io/cloud-tagging-10302018/gtm-cloud-image:${IMAGE_RELEASES.at(-1)?.version}`

/**
 * Answers `/healthy`, `/gtm.js?id=…` and its image's name at `/image`, behind any prefix, as a tag server, Google's host and the
 * host of the server do, and hands on what is for the chat.
 *
 * @param preferredPort of an earlier demo; another one is taken when it is in use
 * @param versionOf the published version of a web container; undefined when there is none
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

/** The settings with which the demo's probes and messages reach its server, which they take for Google's, too; nothing else is asked. */
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

/** What is at the beginning of every container's script, with nothing in the container. */
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
