import { randomBytes } from 'node:crypto'

/** The page that shows the messages, with a content security policy that lets only its own script run. */
export function chatPage(): { html: string; policy: Record<string, string> } {
  const nonce = randomBytes(16).toString('base64url')
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
  const html = HTML.replaceAll('{nonce}', nonce)
  return { html, policy: { 'content-security-policy': policy, 'cross-origin-opener-policy': 'same-origin' } }
}

/** The script inserts messages as text, never as markup, because senders choose the names in them. */
const HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>Messages of the demo · Tagwarden</title>
<style nonce="{nonce}">
:root { color-scheme: light dark; --line: light-dark(#d9dee7, #333c4d); --soft: light-dark(#556070, #a5b0c2) }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: light-dark(#18202c, #e8ecf3); background: light-dark(#f5f7fa, #12161e) }
main { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 3rem }
h1 { font-size: 1.25rem; margin: 0 }
p { margin: .25rem 0 }
.soft { color: var(--soft) }
ol { list-style: none; margin: 1.5rem 0 0; padding: 0; display: grid; gap: .75rem }
li { background: light-dark(#fff, #1b212c); border: 1px solid var(--line); border-left: 5px solid var(--tone); border-radius: 8px; padding: .6rem .9rem }
li p { white-space: pre-line; overflow-wrap: anywhere }
.critical { --tone: #d92d4a } .warning { --tone: #e0a106 } .resolved { --tone: #1f9d63 } .neutral { --tone: #64748b }
.from { font-size: .85rem; color: var(--soft) }
a { color: light-dark(#1a56c4, #8fb4ff) }
</style>
</head>
<body>
<main>
<h1>Messages of the demo</h1>
<p class="soft">What Tagwarden writes to the chat of the two invented clients. It goes nowhere else.</p>
<p class="soft" id="state" role="status">Waiting for the first message …</p>
<ol id="messages" aria-live="polite" aria-label="Messages"></ol>
</main>
<script nonce="{nonce}">
const list = document.querySelector('#messages')
const state = document.querySelector('#state')
const time = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const add = (parent, name, text, className = '') => {
  const element = document.createElement(name)
  element.textContent = text
  element.className = className
  parent.append(element)
  return element
}
let last = 0
async function look() {
  try {
    const answer = await fetch('/chat/messages?after=' + last)
    if (!answer.ok) throw new Error('answered ' + answer.status)
    const { dashboard, messages } = await answer.json()
    for (const { number, sentAt, client, tone, text, path } of messages) {
      last = number
      const item = document.createElement('li')
      item.className = tone
      add(item, 'p', [client ?? 'Tagwarden', time.format(new Date(sentAt))].join(' · '), 'from')
      add(item, 'p', text)
      if (dashboard !== null && path !== null) add(item, 'a', 'Open in Tagwarden').href = dashboard + path
      list.prepend(item)
    }
    state.textContent = last === 0 ? 'Waiting for the first message …' : 'The newest first. New ones appear automatically.'
  } catch {
    state.textContent = 'The demo does not answer. Its messages so far are below.'
  }
  setTimeout(look, 2000)
}
look()
</script>
</body>
</html>
`
