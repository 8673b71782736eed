/** What a `<style>` element needs to be let in by the page's Content-Security-Policy; empty when the page has none. */
export const styleNonce = (): string => document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''

/** Mantine's overlays lock the page's scrolling with a style of `get-nonce`, which looks for this name. */
Object.assign(globalThis, { __webpack_nonce__: styleNonce() })
