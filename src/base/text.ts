const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Whether UTF-8 would change this text: half of a surrogate pair stands alone in it. */
export function hasLoneSurrogate(text: string): boolean {
  return loneSurrogate.test(text);
}
