/** The caller's key: nothing where no key is needed. */
export interface Caller {
  url: string
  token: string | null
}

/** From an address that no attack comes from, because failed sign-ins make their address wait. */
export const OWN_ADDRESS = '192.0.2.1'

export interface Reply {
  status: number
  text: string
}

/** One call of the interface as a well-behaved program makes it. */
export async function call({ url, token }: Caller, method: string, path: string, body?: object): Promise<Reply> {
  const response = await fetch(url + path, {
    method,
    headers: {
      'x-forwarded-for': OWN_ADDRESS,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}

/** @throws Error when the answer is no success */
export async function demand<T>(caller: Caller, method: string, path: string, body?: object): Promise<T> {
  const { status, text } = await call(caller, method, path, body)
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text.slice(0, 500)}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
}
