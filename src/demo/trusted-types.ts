/** What this page uses of Trusted Types; the DOM library of TypeScript does not describe them yet. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): unknown;
}

/**
 * Allows scripts of this origin, and no others, where the Content Security Policy demands Trusted Types. Call it once in
 * every page and worker that starts workers.
 */
export function trustOwnScripts(): void {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  trustedTypes?.createPolicy('default', {
    createScriptURL(url) {
      if (new URL(url, location.href).origin === location.origin) return url;
      throw new TypeError(`Refused to run ${url}: it is of another origin.`);
    },
  });
}
