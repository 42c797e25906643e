//! Scripts: which writing system a text is in.
//!
//! In: a text. Out: the ISO 15924 code of its main script, and the share of that script among characters that have one:
//! `Ελλάδα, EU` -> (`Grek`, 0.75).

use std::sync::LazyLock;

use crate::unicode::{CODE_POINTS, ranges};

/// The scripts of Unicode, without what all scripts share (digits, punctuation, emoji).
const CODES: &str = "\
    Adlm Aghb Ahom Arab Armi Armn Avst Bali Bamu Bass Batk Beng Bhks Bopo Brah Brai Bugi Buhd Cakm Cans \
    Cari Cham Cher Chrs Copt Cpmn Cprt Cyrl Deva Diak Dogr Dsrt Dupl Egyp Elba Elym Ethi Gara Geor Glag \
    Gong Gonm Goth Gran Grek Gujr Gukh Guru Hang Hani Hano Hatr Hebr Hira Hluw Hmng Hmnp Hung Ital Java \
    Kali Kana Kawi Khar Khmr Khoj Kits Knda Krai Kthi Lana Laoo Latn Lepc Limb Lina Linb Lisu Lyci Lydi \
    Mahj Maka Mand Mani Marc Medf Mend Merc Mero Miao Mlym Modi Mong Mroo Mtei Mult Mymr Nagm Nand Narb \
    Nbat Newa Nkoo Nshu Ogam Olck Onao Orkh Orya Osge Osma Ougr Palm Pauc Perm Phag Phli Phlp Phnx Prti \
    Rjng Rohg Runr Samr Sarb Saur Sgnw Shaw Shrd Sidd Sind Sinh Sogd Sogo Sora Soyo Sund Sunu Sylo Syrc \
    Tagb Takr Tale Talu Taml Tang Tavt Telu Tfng Tglg Thaa Thai Tibt Tirh Tnsa Todr Toto Tutg Ugar Vaii \
    Vith Wara Wcho Xpeo Xsux Yezi Yiii Zanb";

/// Japanese mixes three scripts: if kana are at least a tenth of the three together, all count as one.
const LEAST_KANA: u32 = 10;

struct Scripts {
    codes: Vec<&'static str>,
    /// By code point: 0 for none, or 1 + the index in `codes`.
    numbers: Box<[u8]>,
}

static SCRIPTS: LazyLock<Scripts> = LazyLock::new(|| {
    let codes: Vec<_> = CODES.split_whitespace().collect();
    let mut numbers = vec![0; CODE_POINTS].into_boxed_slice();
    for (number, code) in (1..).zip(&codes) {
        for (first, last) in ranges(&format!(r"\p{{sc={code}}}")) {
            numbers[first as usize..=last as usize].fill(number);
        }
    }
    Scripts { codes, numbers }
});

/// The script with the most characters, the first by code on a tie; none if all characters are shared ones.
pub fn main_script(text: &str) -> Option<(&'static str, f64)> {
    let mut counts = [0u32; 256];
    for character in text.chars() {
        counts[usize::from(SCRIPTS.numbers[character as usize])] += 1;
    }
    let all: u32 = counts[1..].iter().sum();
    let count = |code: &str| {
        let place = SCRIPTS.codes.iter().position(|other| *other == code).expect("a code of the list");
        counts[place + 1]
    };
    let most = (1..=SCRIPTS.codes.len()).rev().max_by_key(|number| counts[*number])?;
    let (mut code, mut number) = (SCRIPTS.codes[most - 1], counts[most]);
    if matches!(code, "Hani" | "Hira" | "Kana") {
        let kana = count("Hira") + count("Kana");
        if kana * LEAST_KANA >= kana + count("Hani") {
            (code, number) = ("Jpan", kana + count("Hani"));
        }
    }
    (number > 0).then(|| (code, f64::from(number) / f64::from(all)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_characters_decide() {
        assert_eq!(main_script("Ελλάδα, EU"), Some(("Grek", 0.75)));
        assert_eq!(main_script("ab бв"), Some(("Cyrl", 0.5)), "of equals the first by code");
        assert_eq!(main_script("हिन्दी में"), Some(("Deva", 1.0)), "marks are of the script as well");
        assert_eq!(main_script("12, 3... 😀"), None);
        assert_eq!(main_script(""), None);
    }

    #[test]
    fn japanese_is_three_scripts_and_chinese_one() {
        assert_eq!(main_script("東京都の人口は約千四百万人です"), Some(("Jpan", 1.0)));
        assert_eq!(main_script("カタカナ"), Some(("Jpan", 1.0)));
        assert_eq!(main_script("北京是中华人民共和国的首都"), Some(("Hani", 1.0)));
        assert_eq!(main_script("서울은 大韓民國의 수도이다").map(|(code, _)| code), Some("Hang"));
    }
}
