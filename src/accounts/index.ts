import type { HttpApp } from '../http/index.ts'
import type { DeletionHooks } from '../management/index.ts'
import type { Store } from '../store/index.ts'
import { linkRoutes } from './link-routes.ts'
import { oidcRoutes } from './oidc/routes.ts'
import type { AccountOptions } from './options.ts'
import { ownAccountRoutes, ownPasswordCheck } from './own-account.ts'
import { lockGiving } from './roles.ts'
import { tokenRoutes } from './token-routes.ts'
import { removeTokensOfClient } from './tokens.ts'
import { twoStepRoutes } from './two-step/routes.ts'
import { userRoutes } from './user-routes.ts'

export { createCredentials, hasAccounts, type KnownCredentials } from './credentials.ts'
export { firstOwnerLink } from './first-owner.ts'
export { MOST_USERS } from './invite.ts'
export { OidcProvider, type OidcSettings } from './oidc/provider.ts'
export type { AccountRecord } from './own-account.ts'
export { createOwners } from './owners.ts'
export { Passwords } from './passwords.ts'
export { issuersOf, ProxySignIn } from './proxy-sign-in.ts'
export type { SessionRecord } from './sessions.ts'
export type { ApiTokenRecord, CreateApiToken, NewApiToken } from './tokens.ts'
export { type InvitedUser, InviteUser, type PasswordLink, UpdateUser, type UserRecord } from './user-schemas.ts'

/** Adds the routes for people, their own accounts, API tokens, password links and the identity provider. */
export function accountRoutes(app: HttpApp, options: AccountOptions): void {
  linkRoutes(app, options)
  oidcRoutes(app, options)
  const isOwnPassword = ownPasswordCheck(options)
  ownAccountRoutes(app, options, isOwnPassword)
  twoStepRoutes(app, options, isOwnPassword)
  userRoutes(app, options)
  tokenRoutes(app, options)
}

/** Deletes a client's roles and tokens with the client. */
export const accountHooks = (store: Pick<Store, 'isShared'>): Partial<DeletionHooks> => ({
  removeOfClient: async (trx, clientId) => {
    await lockGiving(trx, store)
    await trx.deleteFrom('user_roles').where('client_id', '=', clientId).execute()
    await trx.deleteFrom('identity_roles').where('client_id', '=', clientId).execute()
    await removeTokensOfClient(trx, clientId)
  },
})
