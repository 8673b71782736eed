import { createServer } from 'node:net'

/**
 * Answers every packet with a ready-made 200 and looks at nothing. No HTTP server in Node can be faster, so what the load
 * generator reaches against it is the generator's own ceiling. `node answerer.ts PORT`.
 */
const BODY = JSON.stringify({ status: 'ok' })
const ANSWER = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`)

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('data', () => socket.write(ANSWER))
  socket.on('error', () => socket.destroy())
})

server.listen(Number(process.argv[2]), '127.0.0.1')
