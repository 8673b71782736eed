import { apiClient } from '../../../testkit/api.ts'

export interface Landing {
  status: number
  /** Where the answer sends the browser; of a page of the same host its path. */
  location: string
  text: string
}

/** A browser as far as redirects and cookies go; it follows nothing by itself. */
export class TestBrowser {
  /** By origin and name. */
  readonly #cookies = new Map<string, Map<string, string>>()

  cookie(url: string, name: string): string | undefined {
    return this.#cookies.get(new URL(url).origin)?.get(name)
  }

  setCookie(url: string, name: string, value: string): void {
    const { origin } = new URL(url)
    const own = this.#cookies.get(origin) ?? new Map<string, string>()
    this.#cookies.set(origin, own.set(name, value))
  }

  async get(url: string): Promise<Landing> {
    return this.#ask(url, {})
  }

  async post(url: string, form: Record<string, string>): Promise<Landing> {
    return this.#ask(url, { method: 'POST', body: new URLSearchParams(form) })
  }

  /** Follows redirects until an answer is none, or leads where `isEnd` says. */
  async follow(url: string, isEnd: (url: string) => boolean = () => false): Promise<Landing & { url: string }> {
    for (let hop = 0, at = url; hop < 20; hop++) {
      const landing = await this.get(at)
      if (landing.location === '') return { ...landing, url: at }
      at = new URL(landing.location, at).href
      if (isEnd(at)) return { ...landing, url: at }
    }
    throw new Error(`redirects without an end from ${url}`)
  }

  /** The interface, with this browser's session. */
  api(url: string) {
    return apiClient(url, { cookie: this.#header(url), origin: url })
  }

  #header(url: string): string {
    const own = this.#cookies.get(new URL(url).origin) ?? new Map<string, string>()
    return Array.from(own, ([name, value]) => `${name}=${value}`).join('; ')
  }

  async #ask(url: string, init: RequestInit): Promise<Landing> {
    const answer = await fetch(url, { ...init, redirect: 'manual', headers: { cookie: this.#header(url) } })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) {
        this.#cookies.get(new URL(url).origin)?.delete(name)
      } else this.setCookie(url, name, decodeURIComponent(value))
    }
    return { status: answer.status, location: answer.headers.get('location') ?? '', text: await answer.text() }
  }
}
