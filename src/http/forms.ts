import type { HttpApp } from './schemas.ts'

/**
 * Adds routes that programs send a form to, which says nothing: mail programs do so to unsubscribe (RFC 8058). They have their own
 * scope, as no other route takes forms.
 */
export function acceptingForms(app: HttpApp, addRoutes: (scope: HttpApp) => void): void {
  void app.register((scope, _options, done) => {
    scope.addContentTypeParser(
      ['application/x-www-form-urlencoded', 'multipart/form-data'],
      { parseAs: 'string', bodyLimit: 4_096 },
      (_request, _body, read) => read(null),
    )
    addRoutes(scope as HttpApp)
    done()
  })
}
