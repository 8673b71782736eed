import { Type } from 'typebox'
import { errorResponses, type HttpApp, model, NoContent, Uuid } from '../../http/index.ts'
import { contextOf } from '../../management/index.ts'
import type { AccountOptions } from '../options.ts'
import { type IsOwnPassword, OWN_ACCOUNT, ownAccount } from '../own-account.ts'
import { requireManaged } from '../users.ts'
import { beginTwoStep, confirmTwoStep, endTwoStep, renewRecoveryCodes, resetTwoStep } from './enrolment.ts'

const tags = ['People']
const Code = Type.Object(
  {
    code: Type.String({
      minLength: 6,
      maxLength: 40,
      description: 'Code of the app, or a recovery code; each works once',
    }),
  },
  { title: 'TwoStepCode', additionalProperties: false },
)
const RecoveryCodes = model('RecoveryCodes', {
  recovery_codes: Type.Array(Type.String(), {
    description: 'Each replaces a code of the app once. They are shown only here',
  }),
})

/** Adds the routes for the second step of signing in with a password. */
export function twoStepRoutes(app: HttpApp, options: AccountOptions, isOwnPassword: IsOwnPassword): void {
  app.post(
    '/api/account/two-step',
    {
      config: OWN_ACCOUNT,
      schema: {
        tags,
        summary: 'Start adding a second step to your sign-in',
        description:
          'Returns a secret for an app that generates codes. It takes effect once a code of it has been confirmed.',
        body: Type.Object(
          { password: Type.String({ minLength: 1, maxLength: 512, description: 'Your current password' }) },
          { additionalProperties: false },
        ),
        response: {
          201: Type.Object({
            secret: Type.String({ description: 'Secret in base 32, to be typed into an app' }),
            uri: Type.String({ description: '`otpauth://…`, to be shown as a QR code' }),
          }),
          ...errorResponses(409),
        },
      },
    },
    async (request, reply) => {
      const { person } = ownAccount(request)
      const begun = await beginTwoStep(contextOf(options, request), person.id, (stored) =>
        isOwnPassword(request, person, request.body.password, stored),
      )
      return reply.code(201).send(begun)
    },
  )

  app.post(
    '/api/account/two-step/confirm',
    {
      config: OWN_ACCOUNT,
      schema: {
        tags,
        summary: 'Turn the second step on',
        description: 'Requires a code of the app. Ends all other sessions of the account.',
        body: Code,
        response: { 200: RecoveryCodes, ...errorResponses(409) },
      },
    },
    async (request) => {
      const { person, session } = ownAccount(request)
      const ctx = contextOf(options, request)
      return { recovery_codes: await confirmTwoStep(ctx, person.id, request.body.code, session) }
    },
  )

  app.post(
    '/api/account/two-step/recovery-codes',
    {
      config: OWN_ACCOUNT,
      schema: {
        tags,
        summary: 'Make new recovery codes',
        description: 'Returns ten codes, which replace those that are left.',
        body: Code,
        response: { 200: RecoveryCodes, ...errorResponses(409) },
      },
    },
    async (request) => {
      const { person } = ownAccount(request)
      return { recovery_codes: await renewRecoveryCodes(contextOf(options, request), person.id, request.body.code) }
    },
  )

  app.post(
    '/api/account/two-step/off',
    {
      config: OWN_ACCOUNT,
      schema: {
        tags,
        summary: 'Turn the second step off',
        body: Code,
        response: { 204: NoContent, ...errorResponses(409) },
      },
    },
    async (request, reply) => {
      await endTwoStep(contextOf(options, request), ownAccount(request).person.id, request.body.code)
      return reply.code(204).send(null)
    },
  )

  app.delete(
    '/api/users/:user_id/two-step',
    {
      config: { needs: 'owner', scope: 'visible' },
      schema: {
        tags,
        summary: "Remove a user's second step",
        description:
          'For people who have lost their app and recovery codes; they sign in with the password alone until they add a second step again. For owners of all clients.',
        params: Type.Object({ user_id: Uuid }),
        response: { 204: NoContent, ...errorResponses(404, 409) },
      },
    },
    async (request, reply) => {
      const { user_id } = request.params
      await requireManaged(options.store.read, request.access, user_id)
      await resetTwoStep(contextOf(options, request), user_id)
      return reply.code(204).send(null)
    },
  )
}
