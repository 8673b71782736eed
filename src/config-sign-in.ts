import { setting } from './config-setting.ts'
import * as parse from './config-values.ts'

/** Settings for signing in without a password: through an identity provider, or through a proxy in front. */
export const SIGN_IN_SETTINGS = {
  oidcIssuer: setting(
    'OIDC_ISSUER',
    'unset',
    'Address of an OpenID Connect provider that people sign in with, as its tokens name it; needs OIDC_CLIENT_ID and OIDC_CLIENT_SECRET. Register `PUBLIC_URL/api/oidc/callback` there, and `PUBLIC_URL/sign-in` for signing out',
    parse.optional(parse.issuerUrl),
  ),
  oidcClientId: setting(
    'OIDC_CLIENT_ID',
    'unset',
    'The client ID of this service at the provider',
    parse.optional((value) => value),
  ),
  oidcClientSecret: setting(
    'OIDC_CLIENT_SECRET',
    'unset',
    'The client secret of this service at the provider',
    parse.optional(parse.token),
    true,
  ),
  oidcName: setting(
    'OIDC_NAME',
    'single sign-on',
    'What the sign-in button calls the provider: *Sign in with …*',
    (value) => parse.label(value ?? 'single sign-on'),
  ),
  oidcScopes: setting(
    'OIDC_SCOPES',
    'openid email profile',
    'Scopes requested from the provider; some need one more for groups',
    parse.scopes(['openid', 'email', 'profile']),
  ),
  oidcGroupsClaim: setting(
    'OIDC_GROUPS_CLAIM',
    'groups',
    "Field of the provider's answer that holds a person's groups; `realm_access.roles` is a nested field",
    parse.text('groups'),
  ),
  oidcTrustEmail: setting(
    'OIDC_TRUST_EMAIL',
    'unset',
    '`true` treats addresses as verified although the provider does not say so (`email_verified`), as with Microsoft Entra. Only where no one can choose their own address there',
    parse.flag,
  ),
  groupRoles: setting(
    'GROUP_ROLES',
    'unset',
    'What members of groups, as the provider or the proxy names them, may do: `admins: owner of all; acme team: editor of Acme, Acme Labs`, with names or ids of clients',
    parse.groupRoles,
  ),
  proxyEmailHeader: setting(
    'PROXY_EMAIL_HEADER',
    'unset',
    'Header in which a reverse proxy that signs people in passes their e-mail address: `X-Forwarded-Email`. Needs PROXY_ADDRESSES; the proxy must remove the header from what callers send',
    parse.optional(parse.identityHeader),
  ),
  proxyNameHeader: setting(
    'PROXY_NAME_HEADER',
    'unset',
    "Header with the person's name",
    parse.optional(parse.identityHeader),
  ),
  proxyGroupsHeader: setting(
    'PROXY_GROUPS_HEADER',
    'unset',
    "Header with the person's groups, separated by commas or bars, for GROUP_ROLES",
    parse.optional(parse.identityHeader),
  ),
  proxyAddresses: setting(
    'PROXY_ADDRESSES',
    'unset',
    'Comma-separated list of the addresses or CIDRs that the proxy connects from. A caller from one of them can sign in as anyone: name only the proxy',
    parse.proxyAddresses,
  ),
  proxySignOutUrl: setting(
    'PROXY_SIGN_OUT_URL',
    'unset',
    'Page that the dashboard sends people to when they sign out, such as `https://tagwarden.example.com/oauth2/sign_out`',
    parse.optional(parse.httpUrlWithQuery),
  ),
}
