import { createServer } from 'node:http'

/**
 * What Tagwarden's ingest is measured against: the least that a Node server which reads JSON can do. It knows no keys,
 * checks nothing and stores nothing. `node server.ts PORT`.
 */
const ANSWER = JSON.stringify({ status: 'ok' })
const HEADERS = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(ANSWER) }

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    if (request.method === 'POST') JSON.parse(Buffer.concat(chunks).toString())
    response.writeHead(200, HEADERS).end(ANSWER)
  })
})

server.listen(Number(process.argv[2]), '127.0.0.1')
